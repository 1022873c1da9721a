package io.gameq.writer.console;

import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.owner.OwnerId;
import io.gameq.terminal.Shown;
import io.gameq.writer.console.ConsoleRoutes.Access;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.MySqlOwner;
import io.gameq.writer.mysql.PauseTable.WriterPause;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.pause.Pauses.PauseTarget;
import io.gameq.writer.redis.RedisOwner;
import io.gameq.writer.redis.RedisOwner.ClaimRecord;
import io.gameq.writer.status.FlushCommand.FlushProgress;
import io.gameq.writer.status.FlushCommand.FlushRequest;
import io.gameq.writer.status.FlushCommand.Remainder;
import io.gameq.writer.trace.NextStep.OwnerTrace;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What is held back: pauses of operators, and tables that take no rows; and what is to be written
 * at once. Thread-safe; what is done is audited by the classes that do it.
 */
final class HoldPages {
  /** On the first page; all of them are among the dead letters. */
  private static final int MOST_OWNERS = 5;

  private final ConsoleServers servers;
  private final Supplier<Pauses> pauses;
  private final Supplier<Map<String, String>> parked;

  HoldPages(ConsoleServers servers, Supplier<Pauses> pauses, Supplier<Map<String, String>> parked) {
    this.servers = servers;
    this.pauses = pauses;
    this.parked = parked;
  }

  void addTo(ConsoleRoutes routes) {
    routes.add(
        Access.LOOK, "held", request -> states(HoldView.of(pauses.get().all(), parked.get())));
    routes.add(Access.LOOK, "held-owners", request -> owners());
    routes.add(Access.ACT, "pause", this::pause);
    routes.add(Access.ACT, "resume", this::resume);
    routes.add(Access.ACT, "flush", this::flush);
  }

  private static Object states(List<HoldView> states) {
    return Map.of("states", states);
  }

  /** Those of the newest dead letters. */
  private Object owners() {
    return states(
        DeadLetters.newestOwners(servers.mysql(), MOST_OWNERS).stream()
            .map(of -> HoldView.ofLetters(of.owner(), of.letters()))
            .toList());
  }

  private Object pause(ConsoleRequest request) {
    WriterPause pause =
        target(request)
            .pause(
                servers.mysql(),
                servers.all().settings().slots(),
                request.actor(),
                request.text("reason"));
    return states(HoldView.of(List.of(pause), Map.of()));
  }

  private Object resume(ConsoleRequest request) {
    List<WriterPause> ended =
        target(request).resume(servers.mysql(), request.actor()).stream().toList();
    return states(HoldView.of(ended, Map.of()));
  }

  private static PauseTarget target(ConsoleRequest request) {
    String name = Objects.requireNonNullElse(request.optionalText("name"), "");
    return PauseTarget.of(request.text("scope"), name);
  }

  /** Tells what is left of what was to be written at once. */
  private Object flush(ConsoleRequest request) {
    String owner = request.optionalText("owner");
    FlushRequest flush = new FlushRequest(servers.all());
    FlushProgress progress =
        owner == null
            ? flush.all(request.actor())
            : flush.owners(request.actor(), List.of(OwnerId.of(owner)));
    Remainder left = progress.look();
    return Map.of("isDone", left.isDone(), "text", left.text());
  }

  /**
   * Why rows wait that would else be written. Immutable.
   *
   * @param state in a word or two
   * @param what waits
   * @param cause why
   * @param ends what ends it
   * @param scope of a pause, with {@code name}: what to resume; {@code owner} where it is named;
   *     else empty
   */
  record HoldView(String state, String what, String cause, String ends, String scope, String name) {
    private static final String REFUSED_ENDS =
        "MySQL takes it when it is tried again, or it is set aside as a dead letter";

    private static final String LETTERS_END =
        "the cause is mended and they are retried, or they are discarded";

    private static final int MOST_SLOTS = 10;

    /** Of which nothing is to be resumed. */
    private HoldView(String state, String what, String cause, String ends) {
      this(state, what, cause, ends, "", "");
    }

    /** What is held for all owners. */
    static List<HoldView> of(List<WriterPause> pauses, Map<String, String> parked) {
      List<HoldView> all = new ArrayList<>();
      for (WriterPause of : pauses) {
        String scope = Shown.lower(of.scope());
        String ends = "somebody resumes it";
        all.add(new HoldView("paused", Pauses.what(of), Pauses.why(of), ends, scope, of.name()));
      }
      String ends = "the table takes rows again: tried every 5 s, nothing is to be resumed";
      parked.forEach(
          (table, why) -> all.add(new HoldView("parked", "table " + Shown.text(table), why, ends)));
      return all;
    }

    /**
     * Owners that wait since MySQL refuses a row of theirs, or its table; nothing when none does.
     */
    static List<HoldView> heldUp(@Nullable Backlog look) {
      String slots =
          look == null
              ? ""
              : look.slots().stream()
                  .filter(of -> of.oldestMillis() != of.oldestPassingMillis())
                  .limit(MOST_SLOTS)
                  .map(of -> Integer.toString(of.slot()))
                  .collect(Collectors.joining(", "));
      String cause = "MySQL refused a row of theirs, or its table takes none";
      return slots.isEmpty()
          ? List.of()
          : List.of(new HoldView("held up", "owners in slot " + slots, cause, REFUSED_ENDS));
    }

    /** An owner of which rows are set aside. */
    static HoldView ofLetters(OwnerId owner, long letters) {
      String cause = "MySQL refused " + Shown.count(letters, "row");
      return new HoldView("dead letters", owner.id(), cause, LETTERS_END, "owner", owner.id());
    }

    /** What is held of an owner. */
    static List<HoldView> of(OwnerTrace trace) {
      List<HoldView> all = new ArrayList<>(of(trace.itsPauses(), trace.itsParkedTables()));
      RedisOwner redis = trace.redis();
      ClaimRecord claim = redis == null ? null : redis.claim();
      if (redis != null && claim != null && claim.refusedSinceMillis() > 0) {
        long since = Math.max(0, redis.nowMillis() - claim.refusedSinceMillis());
        String attempts = Shown.count(claim.attempts(), "attempt");
        String cause =
            "MySQL refuses it since %s, after %s".formatted(Shown.duration(since), attempts);
        all.add(new HoldView("refused", "a row of it", cause, REFUSED_ENDS));
      }
      MySqlOwner mysql = trace.mysql();
      if (mysql != null && mysql.deadLetters() > 0) {
        String cause =
            mysql.letters().stream()
                .map(Stored::refused)
                .limit(3)
                .map(of -> "%s %s (error %s)".formatted(of.table(), of.rowKey(), of.errorCode()))
                .collect(Collectors.joining(", ", "MySQL refused: ", ""));
        String what = Shown.count(mysql.deadLetters(), "row");
        all.add(new HoldView("dead letters", what, cause, LETTERS_END));
      }
      return all;
    }
  }
}

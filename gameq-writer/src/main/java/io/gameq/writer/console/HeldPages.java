package io.gameq.writer.console;

import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.PauseTable.Pause;
import io.gameq.owner.OwnerId;
import io.gameq.terminal.Shown;
import io.gameq.writer.console.GuardedRoutes.Visitor;
import io.gameq.writer.pause.PauseWatch.PauseText;
import io.gameq.writer.pause.Pausing;
import io.gameq.writer.pause.Pausing.PauseTarget;
import io.gameq.writer.redis.OwnerInRedis;
import io.gameq.writer.redis.OwnerInRedis.ClaimRecord;
import io.gameq.writer.status.FlushNow;
import io.gameq.writer.status.FlushNow.FlushProgress;
import io.gameq.writer.trace.WhatNext.OwnerTrace;
import io.javalin.http.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is held back: pauses of operators, and tables that take no rows; and what is to be written
 * at once. Thread-safe; what is done is audited by the classes that do it.
 */
final class HeldPages {
  /** Whoever gives more is told by the pause itself. */
  private static final int MOST_CHARS = 1_000;

  /** On the first page; all of them are among the dead letters. */
  private static final int MOST_OWNERS = 5;

  private final ConsoleServers servers;
  private final Console.WriterView writer;

  HeldPages(ConsoleServers servers, Console.WriterView writer) {
    this.servers = servers;
    this.writer = writer;
  }

  /** The page. */
  record Held(List<HeldState> states) {}

  /** What is left of what was to be written at once. */
  record Left(boolean isDone, String text) {}

  void addTo(GuardedRoutes routes) {
    routes.look("held", this::held);
    routes.look("held-owners", this::owners);
    routes.act("pause", this::pause);
    routes.act("resume", this::resume);
    routes.act("flush", this::flush);
  }

  private Held held(Context context) {
    return new Held(HeldState.of(writer.pauses().get().all(), writer.allParked()));
  }

  /** Those of the newest dead letters. */
  private Held owners(Context context) {
    return new Held(
        servers.mysql().ask(handle -> DeadLetterTable.newestOwners(handle, MOST_OWNERS)).stream()
            .map(of -> HeldState.ofLetters(of.owner(), of.letters()))
            .toList());
  }

  private Held pause(RequestBody body, Visitor visitor) {
    return held(
        List.of(pausing().pause(visitor.actor(), target(body), body.text("reason", MOST_CHARS))));
  }

  private Held resume(RequestBody body, Visitor visitor) {
    return held(pausing().resume(visitor.actor(), target(body)).stream().toList());
  }

  private static Held held(List<Pause> pauses) {
    return new Held(HeldState.of(pauses, Map.of()));
  }

  private Pausing pausing() {
    return new Pausing(servers.mysql(), servers.slots().count());
  }

  private static PauseTarget target(RequestBody body) {
    String name = Objects.requireNonNullElse(body.optionalText("name", MOST_CHARS), "");
    return PauseTarget.of(body.text("scope", MOST_CHARS), name);
  }

  private Left flush(RequestBody body, Visitor visitor) {
    String owner = body.optionalText("owner", MOST_CHARS);
    FlushNow flush = new FlushNow(servers.mysql(), servers.redis(), servers.slots());
    FlushProgress progress =
        owner == null
            ? flush.all(visitor.actor())
            : flush.owners(visitor.actor(), List.of(OwnerId.of(owner)));
    FlushProgress.Left left = progress.look();
    return new Left(left.isDone(), left.text());
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
  record HeldState(
      String state, String what, String cause, String ends, String scope, String name) {
    private static final String REFUSED_ENDS =
        "MySQL takes it when it is tried again, or it is set aside as a dead letter";

    private static final String LETTERS_END =
        "the cause is mended and they are retried, or they are discarded";

    private static final int MOST_SLOTS = 10;

    private static HeldState other(String state, String what, String cause, String ends) {
      return new HeldState(state, what, cause, ends, "", "");
    }

    /** What is held for all owners. */
    static List<HeldState> of(List<Pause> pauses, Map<String, String> parked) {
      List<HeldState> all = new ArrayList<>();
      for (Pause of : pauses) {
        all.add(
            new HeldState(
                "paused",
                PauseText.what(of),
                PauseText.why(of),
                "somebody resumes it",
                of.scope().name().toLowerCase(Locale.ROOT),
                of.name()));
      }
      parked.forEach(
          (table, why) ->
              all.add(
                  other(
                      "parked",
                      "table " + Shown.text(table),
                      why,
                      "the table takes rows again: tried every 5 s, nothing is to be resumed")));
      return all;
    }

    /**
     * Owners that wait since MySQL refuses a row of theirs, or its table; nothing when none does.
     */
    static List<HeldState> heldUp(@Nullable Backlog look) {
      List<String> slots =
          look == null
              ? List.of()
              : look.slots().stream()
                  .filter(of -> of.oldestMillis() != of.oldestPassingMillis())
                  .map(of -> Integer.toString(of.slot()))
                  .toList();
      return slots.isEmpty()
          ? List.of()
          : List.of(
              other(
                  "held up",
                  "owners in slot "
                      + String.join(", ", slots.subList(0, Math.min(MOST_SLOTS, slots.size()))),
                  "MySQL refused a row of theirs, or its table takes none",
                  REFUSED_ENDS));
    }

    /** An owner of which rows are set aside. */
    static HeldState ofLetters(OwnerId owner, long letters) {
      return new HeldState(
          "dead letters",
          owner.id(),
          "MySQL refused %s".formatted(Shown.count(letters, "row")),
          LETTERS_END,
          "owner",
          owner.id());
    }

    /** What is held of an owner. */
    static List<HeldState> of(OwnerTrace trace) {
      List<HeldState> all = new ArrayList<>(of(trace.itsPauses(), trace.itsParkedTables()));
      OwnerInRedis redis = trace.redis();
      ClaimRecord claim = redis == null ? null : redis.claim();
      if (redis != null && claim != null && claim.refusedSinceMillis() > 0) {
        all.add(
            other(
                "refused",
                "a row of it",
                "MySQL refuses it since %s, after %s"
                    .formatted(
                        Shown.duration(Math.max(0, redis.nowMillis() - claim.refusedSinceMillis())),
                        Shown.count(claim.attempts(), "attempt")),
                REFUSED_ENDS));
      }
      if (trace.mysql() != null && trace.mysql().deadLetters() > 0) {
        all.add(
            other(
                "dead letters",
                Shown.count(trace.mysql().deadLetters(), "row"),
                "MySQL refused: "
                    + String.join(
                        ", ",
                        trace.mysql().letters().stream()
                            .limit(3)
                            .map(
                                of ->
                                    "%s %s (error %s)"
                                        .formatted(of.table(), of.rowKey(), of.errorCode()))
                            .toList()),
                LETTERS_END));
      }
      return all;
    }
  }
}

package io.gameq.writer.status;

import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.owner.OwnerId;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.PauseTable.Pause;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.redis.UnwrittenOwners.OwnerBacklog;
import io.gameq.writer.status.FlushRequest.FlushProgress;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code flush}: has rows written now. */
@Command(
    name = "flush",
    description =
        "Has writers write what waits now, instead of at the end of its merge window; before"
            + " maintenance, say.",
    footer = {
      "",
      "With --wait it ends with 0 when all that was there when it began is in MySQL or set aside as"
          + " a dead letter, and with 1 when it is not in time: then it says what waits, and why as"
          + " far as that can be seen. What is paused is not written."
    })
public final class FlushCommand implements Callable<Integer> {
  private static final long LOOK_EVERY_MILLIS = 200;

  /** Where no line can be written over. */
  private static final long TELL_EVERY_SECONDS = 10;

  private static final int MOST_SECONDS = 86_400; // whoever waits for a day has forgotten it

  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Parameters(
      arity = "0..*",
      paramLabel = "OWNER",
      description = "Owners, as the game writes them: player:42; or give --all.")
  private List<String> owners = new ArrayList<>();

  @Option(names = "--all", description = "What all owners have.")
  private boolean all;

  @Option(names = "--wait", description = "Wait until it is written, and show how far it is.")
  private boolean wait;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "300",
      description = "With --wait, for at most so long (default: ${DEFAULT-VALUE}).")
  private int timeoutSeconds = 300;

  @Override
  public Integer call() throws InterruptedException {
    CommandSpec self = Objects.requireNonNull(spec);
    if (owners.isEmpty() != all) {
      throw new CommandLine.ParameterException(self.commandLine(), "give owners, or --all");
    }
    if (timeoutSeconds < 1 || timeoutSeconds > MOST_SECONDS) {
      throw new CommandLine.ParameterException(
          self.commandLine(), "--timeout takes 1 to %s seconds".formatted(MOST_SECONDS));
    }
    List<OwnerId> ids = owners.stream().distinct().map(OwnerId::of).toList();
    PrintWriter out = self.commandLine().getOut();
    try (CommandServers servers = new CommandServers(config, self)) {
      FlushRequest flush = new FlushRequest(servers.mysql(), servers.redis(), servers.slots());
      long began = System.nanoTime();
      FlushProgress progress = all ? flush.all(Actor.here()) : flush.owners(Actor.here(), ids);
      FlushProgress.Remainder left = progress.look();
      if (left.isDone()) {
        out.println(all ? "nothing waits" : names(ids) + ": nothing waits");
        return ExitCodes.OK;
      }
      out.println("due now: " + (all ? "what all owners have" : left.text()));
      if (!wait) {
        return ExitCodes.OK;
      }
      left = await(progress, left, out);
      if (left.isDone()) {
        out.printf(
            Locale.ROOT, "all of it is written, after %.1f s%n", (System.nanoTime() - began) / 1e9);
        return ExitCodes.OK;
      }
      out.printf(Locale.ROOT, "not written within %d s: %s%n", timeoutSeconds, left.text());
      why(servers, progress.some()).forEach(out::println);
      return ExitCodes.FOUND_SOMETHING;
    }
  }

  private static String names(List<OwnerId> owners) {
    return owners.stream().map(of -> Shown.text(of.id())).collect(Collectors.joining(", "));
  }

  private FlushProgress.Remainder await(
      FlushProgress progress, FlushProgress.Remainder first, PrintWriter out)
      throws InterruptedException {
    boolean isTerminal = Ansi.AUTO.enabled();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
    long tellNanos = System.nanoTime();
    FlushProgress.Remainder left = first;
    while (!left.isDone() && System.nanoTime() - deadline < 0) {
      TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
      left = progress.look();
      if (isTerminal) {
        out.print("\r\033[K" + left.text());
        out.flush();
      } else if (System.nanoTime() - tellNanos > TimeUnit.SECONDS.toNanos(TELL_EVERY_SECONDS)) {
        out.println(left.text());
        tellNanos = System.nanoTime();
      }
    }
    if (isTerminal) {
      out.print("\r\033[K");
    }
    return left;
  }

  private static List<String> why(CommandServers servers, List<OwnerBacklog> some) {
    WriterConfig settings = servers.settings();
    Pauses pauses = Pauses.read(servers.mysql());
    boolean hasRoom = DeadLetters.count(servers.mysql()) < settings.writer().deadLetters();
    Processes processes = servers.redis().ask(of -> Processes.of(of, settings.namespace()));
    return new WaitReasons(
            pauses, pauses.heldTables(servers.mysql()), settings.slots(), hasRoom, processes)
        .of(some);
  }

  /** Why rows are not written yet, as far as that can be seen from outside. Immutable. */
  static final class WaitReasons {
    private final Pauses pauses;
    private final Set<String> heldTables;
    private final int slots;
    private final boolean hasRoomForDeadLetters;
    private final Processes writers;

    /**
     * By what the servers say.
     *
     * @param heldTables of which rows wait: those that are paused, and those that refer to them
     * @param slots of the namespace
     * @param hasRoomForDeadLetters whether a row that MySQL refuses can be set aside
     * @param writers what those that run say of themselves
     */
    public WaitReasons(
        Pauses pauses,
        Set<String> heldTables,
        int slots,
        boolean hasRoomForDeadLetters,
        Processes writers) {
      this.pauses = pauses;
      this.heldTables = Set.copyOf(heldTables);
      this.slots = slots;
      this.hasRoomForDeadLetters = hasRoomForDeadLetters;
      this.writers = writers;
    }

    /** Each reason in one line, with what it holds up; empty when nobody is given. */
    public List<String> of(List<OwnerBacklog> owners) {
      List<String> why = new ArrayList<>();
      List<OwnerBacklog> rest = new ArrayList<>(owners);
      take(rest, of -> slotPause(of) != null)
          .forEach(of -> addOnce(why, Pauses.line(Objects.requireNonNull(slotPause(of)))));
      List<OwnerBacklog> held = take(rest, of -> heldTables.containsAll(of.tables()));
      if (!held.isEmpty()) {
        pauses.all().stream()
            .filter(of -> of.scope() == Scope.TABLE)
            .forEach(of -> addOnce(why, Pauses.line(of)));
        add(why, held, "nothing but rows of paused tables, or of tables that refer to them");
      }
      List<OwnerBacklog> refused = take(rest, of -> of.refusedForMillis() > 0);
      if (!refused.isEmpty()) {
        long millis = refused.stream().mapToLong(OwnerBacklog::refusedForMillis).max().orElse(0);
        add(
            why,
            refused,
            "MySQL refuses rows of them, since %s s: they are tried again%s"
                .formatted(
                    millis / 1_000,
                    hasRoomForDeadLetters
                        ? ", then set aside"
                        : "; there is no room for more dead letters (writer.deadLetters): see 'dead"
                            + " list'"));
      }
      add(why, take(rest, of -> of.claimed() > 0), "claimed by a writer that has yet to finish");
      if (!rest.isEmpty()) {
        pauses.all().stream()
            .filter(of -> of.scope() == Scope.WRITER)
            .forEach(of -> addOnce(why, Pauses.line(of)));
        writers.writers().stream()
            .flatMap(of -> of.toDo().stream())
            .forEach(line -> addOnce(why, line));
        add(
            why,
            rest,
            writers.writersThere() == 0
                ? "due, and no writer runs: start one"
                : "due and not claimed, or given back: the logs of the writers and their /ready say"
                    + " why");
      }
      return why;
    }

    private @Nullable Pause slotPause(OwnerBacklog of) {
      return pauses.ofSlot(of.owner().slot(slots));
    }

    private static void add(List<String> why, List<OwnerBacklog> owners, String reason) {
      if (!owners.isEmpty()) {
        why.add(
            "%s (%s%s): %s"
                .formatted(
                    Shown.count(owners.size(), "owner"),
                    Shown.text(owners.get(0).owner().id()),
                    owners.size() > 1 ? ", ..." : "",
                    reason));
      }
    }

    private static void addOnce(List<String> why, String line) {
      if (!why.contains(line)) {
        why.add(line);
      }
    }

    private static List<OwnerBacklog> take(List<OwnerBacklog> from, Predicate<OwnerBacklog> which) {
      List<OwnerBacklog> taken = new ArrayList<>();
      from.removeIf(of -> which.test(of) && taken.add(of));
      return taken;
    }
  }
}

package io.gameq.writer.stale;

import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.owner.OwnerId;
import io.gameq.redis.script.StaleRows;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.Discards;
import io.gameq.writer.terminal.Confirmation;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stale discard}: removes stale rows from Redis. */
@Command(
    name = "discard",
    description = "Removes stale rows from Redis for good.",
    footer = {
      "",
      "Prints each row it removes. Rows of a session that owns now are kept. 'stale show' tells"
          + " what is in them."
    })
final class StaleDiscardCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();
  @Mixin private Confirmation confirmation = new Confirmation();

  @Parameters(
      arity = "0..*",
      paramLabel = "OWNER",
      description = "Owners, as the game writes them: player:42; or give --all.")
  private List<String> owners = new ArrayList<>();

  @Option(names = "--all", description = "The stale rows of all owners.")
  private boolean all;

  /** Returns 1 when an owner has none, or a session owns now and so its rows were kept. */
  @Override
  public Integer call() {
    CommandSpec self = Objects.requireNonNull(spec);
    if (owners.isEmpty() != all) {
      throw new CommandLine.ParameterException(self.commandLine(), "give owners, or --all");
    }
    PrintWriter out = self.commandLine().getOut();
    WriterConfig settings = AgreedConfig.readWithRedis(config, Objects.requireNonNull(spec));
    try (StaleRows stale = StaleNames.open(settings);
        Discards discards = Discards.open(settings.mysql())) { // before anything is removed
      List<StaleRows.Session> sessions = new ArrayList<>(all ? stale.sessions() : List.of());
      List<OwnerId> without = new ArrayList<>();
      for (String owner : new LinkedHashSet<>(owners)) {
        List<StaleRows.Session> found = stale.sessions(OwnerId.of(owner));
        sessions.addAll(found);
        if (found.isEmpty()) {
          without.add(OwnerId.of(owner));
        }
      }
      if (!without.isEmpty()) {
        String names =
            without.stream().map(of -> Shown.text(of.id())).collect(Collectors.joining(", "));
        self.commandLine().getErr().println("no stale rows of " + names + ": nothing was done");
        return ExitCodes.FOUND_SOMETHING;
      }
      if (!sessions.isEmpty()) {
        confirmation.require(
            "Discard the stale rows of %s for good?"
                .formatted(Shown.count(sessions.size(), "session")));
      }
      if (!sessions.isEmpty()) {
        discards.audit(
            Actor.here(),
            "stale discard",
            all ? "all" : String.join(", ", new LinkedHashSet<>(owners)),
            Shown.count(sessions.size(), "session"));
      }
      return discard(stale, discards, sessions, out);
    }
  }

  private static int discard(
      StaleRows stale, Discards discards, List<StaleRows.Session> sessions, PrintWriter out) {
    long rows = 0;
    boolean kept = false;
    for (StaleRows.Session session : sessions) {
      StaleRows.Outcome outcome = StaleSessions.discard(stale, discards, session);
      if (outcome instanceof StaleRows.Discarded discarded) {
        rows += discarded.rows().size();
        discarded
            .rows()
            .forEach(
                row ->
                    out.println(
                        "discarded %s of %s, version %s"
                            .formatted(
                                Shown.text(row.key()),
                                StaleNames.of(session),
                                Long.toUnsignedString(row.version()))));
      } else {
        boolean owns = outcome instanceof StaleRows.OwnsNow;
        kept |= owns;
        out.println((owns ? "kept, it owns now: " : "already gone: ") + StaleNames.of(session));
      }
    }
    out.println(Shown.count(rows, "stale row") + " discarded");
    return kept ? ExitCodes.FOUND_SOMETHING : ExitCodes.OK;
  }
}

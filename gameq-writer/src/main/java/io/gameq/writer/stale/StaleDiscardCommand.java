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
  private static final int MOST_AT_ONCE = 500;

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

  private long discarded;
  private boolean kept;

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
      List<StaleRows.Session> named = new ArrayList<>();
      List<OwnerId> without = new ArrayList<>();
      for (String owner : new LinkedHashSet<>(owners)) {
        List<StaleRows.Session> found = stale.sessions(OwnerId.of(owner));
        named.addAll(found);
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
      StaleRows.Page page = all ? stale.page("", MOST_AT_ONCE) : null;
      long count = page == null ? named.size() : page.count();
      if (count > 0) {
        String sessions = Shown.count(count, "session");
        confirmation.require("Discard the stale rows of %s for good?".formatted(sessions));
        discards.audit(
            Actor.here(),
            "stale discard",
            all ? "all" : String.join(", ", new LinkedHashSet<>(owners)),
            sessions);
      }
      named.forEach(session -> discard(stale, discards, session, out));
      while (page != null) {
        page.sessions().forEach(of -> discard(stale, discards, of.session(), out));
        page = page.next().isEmpty() ? null : stale.page(page.next(), MOST_AT_ONCE);
      }
      out.println(Shown.count(discarded, "stale row") + " discarded");
      return kept ? ExitCodes.FOUND_SOMETHING : ExitCodes.OK;
    }
  }

  private void discard(
      StaleRows stale, Discards discards, StaleRows.Session session, PrintWriter out) {
    StaleRows.Outcome outcome = StaleSessions.discard(stale, discards, session);
    if (outcome instanceof StaleRows.Discarded of) {
      discarded += of.rows().size();
      of.rows()
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
}

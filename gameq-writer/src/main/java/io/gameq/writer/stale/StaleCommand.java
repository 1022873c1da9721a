package io.gameq.writer.stale;

import io.gameq.GameQueueException;
import io.gameq.agent.RateLimit;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.rows.HandledRow.EncodedRow;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.letters.LetterDetail.ColumnDetail;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.Discards;
import io.gameq.writer.mysql.RowReading;
import io.gameq.writer.redis.StaleRows;
import io.gameq.writer.redis.StaleRows.Listed;
import io.gameq.writer.stale.StaleSessions.ShownRow;
import io.gameq.writer.terminal.Confirmation;
import io.gameq.writer.terminal.JsonLine;
import io.gameq.writer.terminal.RateOption;
import io.gameq.writer.terminal.TopCommand;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stale}: the parent of the commands for stale rows. */
@Command(
    name = "stale",
    description =
        "Shows and discards stale rows: committed by a session after it had lost its owner to"
            + " another one. They lie in Redis and are never flushed.",
    subcommands = {
      StaleCommand.StaleListCommand.class,
      StaleCommand.StaleShowCommand.class,
      StaleCommand.StaleDiscardCommand.class
    })
public final class StaleCommand implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    CommandSpec self = Objects.requireNonNull(spec);
    throw new CommandLine.ParameterException(
        self.commandLine(), "missing command: list, show or discard");
  }

  /** {@code stale show}: the stale rows of an owner, column by column. */
  @Command(
      name = "show",
      description =
          "Shows the stale rows of an owner, so that a player can be compensated by hand.",
      footer = {"", "A star marks the columns in which MySQL has something else."})
  static final class StaleShowCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;
    @Mixin private ConfigOption config = new ConfigOption();

    @Parameters(paramLabel = "OWNER", description = "As the game writes it: player:42.")
    private String owner = "";

    @Option(
        names = "--values",
        description =
            "Show the values of the rows, not only which differ; that is in the audit log.")
    private boolean withValues;

    /** Returns 1 when the owner has none. */
    @Override
    public Integer call() {
      CommandSpec self = Objects.requireNonNull(spec);
      PrintWriter out = self.commandLine().getOut();
      OwnerId of = OwnerId.of(owner);
      WriterConfig settings = AgreedConfig.readWithRedis(config, Objects.requireNonNull(spec));
      MySqlConfig mysql = settings.mysql();
      try (StaleRows stale = StaleNames.open(settings)) {
        List<StaleRows.Session> sessions = stale.sessions(of);
        if (sessions.isEmpty()) {
          self.commandLine().getErr().println(Shown.text(of.id()) + " has no stale rows");
          return ExitCodes.FOUND_SOMETHING;
        }
        try (MySql database = MySqlPool.open(mysql.withPoolSize(2), "stale")) {
          if (withValues) {
            Settings.requireSchema(database);
            AuditTable.add(database, TopCommand.actor(self), "stale show", of.id(), "with values");
          }
          RowReading reading = new RowReading(database);
          for (StaleRows.Session session : sessions) {
            out.println(StaleNames.of(session) + ": " + Shown.count(stale.count(session), "row"));
            StaleSessions.rows(
                stale,
                reading,
                session,
                withValues,
                rows -> {
                  rows.forEach(row -> row(out, row));
                  return true;
                });
          }
        }
        if (!withValues) {
          out.println("values are hidden: --values shows them");
        }
        return ExitCodes.OK;
      }
    }

    private static void row(PrintWriter out, ShownRow row) {
      String version = Shown.version(row.version());
      String undecodable = row.undecodable();
      if (undecodable == null) {
        out.println("  %s: %s, version %s".formatted(Shown.text(row.key()), row.op(), version));
        row.columns().stream()
            .filter(ColumnDetail::named)
            .forEach(column -> out.println(line(column)));
      } else {
        out.println("  %s: version %s".formatted(Shown.text(row.key()), version));
        out.println("    " + Shown.text(undecodable));
      }
    }

    private static String line(ColumnDetail column) {
      String name = "  " + (column.differs() ? "* " : "  ") + Shown.text(column.name());
      return column.refused() == null ? name : name + " = " + column.refused();
    }
  }

  /** {@code stale discard}: removes stale rows from Redis. */
  @Command(
      name = "discard",
      description = "Removes stale rows from Redis for good.",
      footer = {
        "",
        "Prints each row it removes. Rows of a session that owns now are kept. 'stale show' tells"
            + " what is in them."
      })
  static final class StaleDiscardCommand implements Callable<Integer> {
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

  /** How the stale commands open Redis and name what they find. Stateless. */
  static final class StaleNames {
    private StaleNames() {}

    static StaleRows open(WriterConfig config) {
      return new StaleRows(config.redis(), config.namespace(), config.slots());
    }

    /** {@code player:42, session 0000000000000001-aaaaaaaa00000001} */
    static String of(StaleRows.Session session) {
      return Shown.text(session.owner().id()) + ", session " + session.session().text();
    }

    /** The version of a row, 0 when it is too damaged to tell. */
    static long version(EncodedRow row) {
      try {
        return row.version();
      } catch (GameQueueException e) {
        return 0;
      }
    }
  }

  /** {@code stale list}: sessions with stale rows. */
  @Command(
      name = "list",
      description = "Lists sessions with stale rows, slot by slot; reads Redis only.",
      footer = {
        "",
        "States: lost (the rows are never flushed), owns now (Redis has the session as the owner's"
            + " again, after a failover: the rows will be flushed). Of a session with many rows, ~"
            + " marks what is told by some of them."
      })
  static final class StaleListCommand implements Callable<Integer> {
    private static final int MOST_AT_ONCE = 500;

    @Spec private @Nullable CommandSpec spec;
    @Mixin private ConfigOption config = new ConfigOption();
    @Mixin private RateOption rate = new RateOption();

    @Option(
        names = "--limit",
        paramLabel = "N",
        description = "Most sessions to list, and perhaps some more (default: ${DEFAULT-VALUE}).")
    private int limit = 1_000;

    @Option(
        names = "--after",
        paramLabel = "PLACE",
        description = "To go on where the last list ended, as it said.")
    private String after = "";

    @Option(
        names = "--json",
        description = "One JSON object a line, nothing else; times in UTC, versions as text.")
    private boolean json;

    /** Returns 1 when rows of a session are lost, or not all sessions were listed. */
    @Override
    public Integer call() {
      CommandSpec self = Objects.requireNonNull(spec);
      if (limit < 1) {
        throw new ParameterException(self.commandLine(), "--limit is a number from 1 on");
      }
      PrintWriter out = self.commandLine().getOut();
      TextTable table =
          new TextTable(out, "OWNER", "SESSION", "ROWS", "BYTES", "NEWEST (UTC)", "STATE");
      long listed = 0;
      long rows = 0;
      boolean isAnyLost = false;
      StaleRows.Page page;
      try (StaleRows stale = StaleNames.open(AgreedConfig.readWithRedis(config, self))) {
        RateLimit pace = rate.limit();
        String next = after;
        do {
          page = stale.page(next, (int) pace.burst(Math.min(MOST_AT_ONCE, limit - listed)));
          pace.take(page.sessions().size());
          if (json) {
            page.sessions().forEach(of -> out.println(JsonLine.of(values(of))));
          } else {
            table.print(page.sessions().stream().map(StaleListCommand::cells).toList());
          }
          listed += page.sessions().size();
          rows += page.sessions().stream().mapToLong(Listed::rows).sum();
          isAnyLost |= page.sessions().stream().anyMatch(of -> !of.session().ownsNow());
          next = page.next();
        } while (!next.isEmpty() && listed < limit);
      }
      if (!json) {
        out.println(Shown.count(listed, "session") + " with " + Shown.count(rows, "stale row"));
      }
      if (!page.next().isEmpty()) {
        (json ? self.commandLine().getErr() : out)
            .printf(
                Locale.ROOT,
                "there are %,d sessions: --limit lists more, --after %s the next ones%n",
                page.count(),
                page.next());
      }
      return isAnyLost || !page.next().isEmpty() ? ExitCodes.FOUND_SOMETHING : ExitCodes.OK;
    }

    private static List<String> cells(Listed of) {
      String about = of.isAbout() ? "~" : "";
      return List.of(
          Shown.text(of.session().owner().id()),
          of.session().session().text(),
          Long.toString(of.rows()),
          about + of.bytes(),
          of.rows() == 0 ? "" : about + Shown.utc(Shown.time(of.newestVersion())),
          of.session().ownsNow() ? "owns now" : "lost");
    }

    private static Map<String, Object> values(Listed of) {
      Map<String, Object> values = new LinkedHashMap<>();
      values.put("owner", of.session().owner().id());
      values.put("session", of.session().session().text());
      values.put("rows", of.rows());
      values.put("bytes", of.bytes());
      values.put("newestVersion", Long.toUnsignedString(of.newestVersion()));
      values.put("newest", Shown.time(of.newestVersion()).toString());
      values.put("isAbout", of.isAbout());
      values.put("ownsNow", of.session().ownsNow());
      return values;
    }
  }
}

package io.gameq.writer.stale;

import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlConfig;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.owner.OwnerId;
import io.gameq.redis.script.StaleRows;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.letters.LetterDetail.ColumnDetail;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.RowReading;
import io.gameq.writer.stale.StaleSessions.ShownRow;
import io.gameq.writer.terminal.TopCommand;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stale show}: the stale rows of an owner, column by column. */
@Command(
    name = "show",
    description = "Shows the stale rows of an owner, so that a player can be compensated by hand.",
    footer = {"", "A star marks the columns in which MySQL has something else."})
final class StaleShowCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Parameters(paramLabel = "OWNER", description = "As the game writes it: player:42.")
  private String owner = "";

  @Option(
      names = "--values",
      description = "Show the values of the rows, not only which differ; that is in the audit log.")
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

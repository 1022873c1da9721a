package io.gameq.writer.schema;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.LayoutTable;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.rows.Catalog;
import io.gameq.rows.Table;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.CommandDatabase;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code schema drop-column}: tells writers that a column goes on purpose. */
@Command(
    name = "drop-column",
    description =
        "Announces that columns of a table are dropped on purpose, before or after ALTER TABLE"
            + " does it.",
    footer = {
      "",
      "It drops nothing itself. Rows that nodes wrote with a value for such a column are written"
          + " without it; until it is announced they wait in Redis, and the table is parked."
    })
final class SchemaDropColumnCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Parameters(index = "0", paramLabel = "TABLE", description = "A managed table.")
  private String table = "";

  @Parameters(index = "1..*", arity = "1..*", paramLabel = "COLUMN", description = "Its columns.")
  private List<String> columns = List.of();

  @Option(names = "--undo", description = "Take it back: such rows wait again.")
  private boolean undo;

  @Override
  public Integer call() {
    CommandSpec self = Objects.requireNonNull(spec);
    PrintWriter out = self.commandLine().getOut();
    try (MySql mysql = CommandDatabase.open(AgreedConfig.read(config, self).mysql(), "drop")) {
      Catalog catalog = CatalogReader.read(mysql);
      LayoutTable layouts = new LayoutTable(mysql);
      Table of = catalog.table(table); // refuses what is not managed
      Set<String> everKnown = layouts.everKnown(of.name());
      columns.forEach(column -> requireDroppable(of, column, everKnown));
      for (String column : columns) {
        AuditTable.add(
            mysql,
            Actor.here(),
            undo ? "schema drop-column --undo" : "schema drop-column",
            "%s.%s".formatted(of.name(), column),
            "");
        out.println(undo ? undone(layouts, of, column) : announced(layouts, of, column));
      }
    }
    return ExitCodes.OK;
  }

  private static String announced(LayoutTable layouts, Table of, String column) {
    layouts.announceDrop(of.name(), column);
    return "%s.%s: rows are written without it %s"
        .formatted(of.name(), column, of.has(column) ? "once it is dropped" : "from now on");
  }

  private static String undone(LayoutTable layouts, Table of, String column) {
    return "%s.%s: %s"
        .formatted(
            of.name(),
            column,
            layouts.withdrawDrop(of.name(), column)
                ? "rows with a value for it wait when it is gone"
                : "that was not announced");
  }

  private static void requireDroppable(Table of, String column, Set<String> everKnown) {
    if (!of.has(column) && !everKnown.contains(column)) {
      throw new GameQueueException(
          "table %s has no column %s, and no row was ever written with one"
              .formatted(of.name(), column));
    }
    if (of.has(column) && of.namesRowOrOwner(of.indexOf(column))) {
      throw new GameQueueException(
          "%s.%s names the row or its owner: without it gameq cannot manage the table"
              .formatted(of.name(), column));
    }
  }
}

package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.Table;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compares the tables of a configuration with those that a database manages. Stateless. */
public final class ConfiguredTables {
  private ConfiguredTables() {}

  /**
   * Passes when each configured table is managed as the configuration says.
   *
   * @throws GameQueueException naming each table that is not, with the remedy; or when MySQL does
   *     not answer
   */
  public static void requireManaged(MySql database, List<TableSpec> configured) {
    if (configured.isEmpty()) {
      return;
    }
    Catalog catalog = CatalogReader.read(database).requireManaged();
    List<String> problems = new ArrayList<>();
    for (TableSpec table : configured) {
      String problem = problem(table, catalog);
      if (problem != null) {
        problems.add("table %s %s".formatted(table.name(), problem));
      }
    }
    if (!problems.isEmpty()) {
      throw new GameQueueException(String.join("; ", problems));
    }
  }

  /** What is amiss with a configured table, with the remedy; null: nothing. */
  public static @Nullable String problem(TableSpec configured, Catalog catalog) {
    if (!catalog.manages(configured.name())) {
      return "is in the configuration and not managed yet: run 'gameq-writer schema migrate'";
    }
    Table managed = catalog.table(configured.name());
    boolean agrees =
        managed.ownerKind().equals(configured.ownerKind())
            && managed.ownerColumn().name().equalsIgnoreCase(configured.ownerColumn());
    return agrees
        ? null
        : ("belongs to the %s of column %s, the configuration says to the %s of column %s: correct"
                + " it, or run 'gameq-writer schema migrate' while no node and no writer runs")
            .formatted(
                managed.ownerKind(),
                managed.ownerColumn().name(),
                configured.ownerKind(),
                configured.ownerColumn());
  }
}

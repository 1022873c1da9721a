package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.schema.Settings.SchemaFiles;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.Table;
import io.gameq.writer.mysql.MigrationPlan.SchemaState;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a running writer needs of a database, asked without changing anything. Used by one thread.
 */
public final class WriterRequirements {
  /** Access is denied: to a database, to a table, to a column. */
  private static final Set<Integer> DENIED = Set.of(1044, 1142, 1143);

  /** A column of each of gameq's own tables that a writer changes, and with which statements. */
  private static final Map<String, Rights> OWN_TABLES =
      Map.ofEntries(
          Map.entry("gameq_owner", new Rights("owner", Rights.ALL)),
          Map.entry("gameq_redis_term", new Rights("id", List.of("INSERT", "UPDATE"))),
          Map.entry("gameq_layout", new Rights("fingerprint", List.of("INSERT"))),
          Map.entry("gameq_setting", new Rights("name", List.of("INSERT", "UPDATE"))),
          Map.entry("gameq_tombstone", new Rights("owner", Rights.ALL)),
          Map.entry("gameq_dead_letter", new Rights("owner", Rights.ALL)),
          Map.entry("gameq_handover", new Rights("owner", Rights.ALL)),
          Map.entry("gameq_discard", new Rights("owner", Rights.ALL)),
          Map.entry("gameq_handled", new Rights("token", Rights.ALL)),
          Map.entry("gameq_pause", new Rights("name", Rights.ALL)),
          Map.entry("gameq_topic", new Rights("topic", Rights.ALL)),
          Map.entry("gameq_dropped_column", new Rights("column_name", List.of("INSERT", "DELETE"))),
          Map.entry("gameq_node", new Rights("process", List.of("DELETE"))),
          Map.entry("gameq_audit", new Rights("who", List.of("INSERT"))));

  private static final String DOING =
      "SELECT CONCAT(state, ' for ', time, ' s') FROM information_schema.processlist WHERE command"
          + " NOT IN ('Sleep', 'Daemon') AND state <> '' AND id <> CONNECTION_ID() ORDER BY time"
          + " DESC LIMIT 3";

  private record Rights(String column, List<String> by) {
    static final List<String> ALL = List.of("INSERT", "UPDATE", "DELETE");
  }

  private WriterRequirements() {}

  /** What is wrong with gameq's own tables, each with the remedy; empty when nothing is. */
  public static List<String> problemsOfSchema(MySql mysql, String namespace, int slots) {
    SchemaState state = mysql.ask(SchemaState::read);
    List<String> problems = new ArrayList<>();
    if (state.schema() < SchemaFiles.latest()) {
      problems.add(
          "gameq's own tables are at number %s of %s: run 'gameq-writer schema migrate'%s"
              .formatted(
                  state.schema(),
                  SchemaFiles.latest(),
                  state.schema() > 0 ? "" : ", or grant the user the right to read them"));
    }
    problems.addAll(Settings.differences(state.settings()::get, namespace, slots));
    return problems;
  }

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

  /** Rights that the user lacks on gameq's own tables and on these, as words of a GRANT. */
  public static List<String> missingRights(MySql mysql, List<Table> tables) {
    Map<String, Rights> all = new TreeMap<>(OWN_TABLES);
    for (Table table : tables) {
      all.put(table.name(), new Rights(Table.VERSION_COLUMN, Rights.ALL));
    }
    return mysql.ask(
        handle -> {
          List<String> missing = new ArrayList<>();
          for (Map.Entry<String, Rights> of : all.entrySet()) {
            List<String> lacks = new ArrayList<>();
            for (String verb : of.getValue().by()) {
              String sql = explain(verb, of.getKey(), of.getValue().column());
              if (isDenied(handle.getConnection(), sql)) {
                lacks.add(verb);
              }
            }
            if (!lacks.isEmpty()) {
              missing.add(String.join(", ", lacks) + " ON " + of.getKey());
            }
          }
          return missing;
        });
  }

  /** EXPLAIN needs the rights of the statement, wherever these come from, and does nothing. */
  private static String explain(String verb, String table, String column) {
    String of = JdbcValues.quoted(table);
    String its = JdbcValues.quoted(column);
    return "EXPLAIN "
        + switch (verb) {
          case "INSERT" ->
              "INSERT INTO %1$s (%2$s) SELECT %2$s FROM %1$s WHERE FALSE".formatted(of, its);
          case "UPDATE" -> "UPDATE %1$s SET %2$s = %2$s WHERE FALSE".formatted(of, its);
          default -> "DELETE FROM %s WHERE FALSE".formatted(of);
        };
  }

  private static boolean isDenied(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
      return false;
    } catch (SQLException e) {
      if (DENIED.contains(e.getErrorCode())) {
        return true;
      }
      if (String.valueOf(e.getSQLState()).startsWith("08")) {
        throw e;
      }
      return false; // a column without a default, say: that is not about rights
    }
  }

  /**
   * What takes longest, as the server says it; empty when nothing is under way.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static List<String> doing(MySql mysql) {
    return mysql.ask(handle -> handle.createQuery(DOING).mapTo(String.class).list());
  }
}

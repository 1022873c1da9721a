package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.Sql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.SchemaSnapshot;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.rows.Table;
import io.gameq.writer.mysql.MigrationPlan.MigrationStep;
import io.gameq.writer.mysql.MigrationPlan.SchemaState;
import io.gameq.writer.mysql.MigrationPlan.Target;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;

/**
 * A database as the schema commands see it. Used by one thread; two processes that migrate at once
 * wait for each other.
 *
 * <p>DDL commits by itself, so a migration that is killed leaves its first steps done; the next run
 * does the others.
 */
public final class SchemaDatabase implements AutoCloseable {
  private static final int MIGRATION_LOCK_SECONDS = 10;
  private static final int LOCK_WAIT_TIMEOUT = 1205;

  /** The algorithm is not supported (for a reason), the row has too many versions. */
  private static final Set<Integer> NOT_IN_THIS_WAY = Set.of(1845, 1846, 4092);

  /**
   * Duplicate column name. A schema file adds its columns in one statement: a run that was killed
   * after it has added all of them.
   */
  private static final int COLUMN_IS_THERE = 1060;

  private final MySql mysql;

  private SchemaDatabase(MySql mysql) {
    this.mysql = mysql;
  }

  /**
   * Connects.
   *
   * @throws GameQueueException when the URL names no database, the server is away or refuses the
   *     login
   */
  public static SchemaDatabase open(MySqlConfig config) {
    if (config.database().isEmpty()) {
      throw new GameQueueException(
          "mysql.url names no database: end it with /name, as in jdbc:mysql://%s/game"
              .formatted(config.address()));
    }
    // Two at least: the migration's own, which holds its lock, and one for the inspection.
    return new SchemaDatabase(MySqlPool.openForSchema(config.withPoolSize(2)));
  }

  /** What the server is and whether gameq may run on it. */
  public MySqlServerCheck serverCheck() {
    return MySqlServerCheck.of(mysql);
  }

  /**
   * What {@link #migrate} would do; changes nothing.
   *
   * @throws GameQueueException when the database belongs to another namespace or has other slots
   */
  public MigrationPlan plan(Target target) {
    return mysql.ask(handle -> plan(handle, target));
  }

  /**
   * Does what separates the database from the target.
   *
   * @param progress is told of each step in words, once it is done
   * @return the plan that was carried out
   * @throws GameQueueException at the first step that fails; those told before it are done
   */
  public MigrationPlan migrate(Target target, Consumer<String> progress) {
    return mysql.ask(
        handle -> {
          lock(handle);
          // Planned under the lock: another process may have done half of it.
          MigrationPlan plan = plan(handle, target);
          for (MigrationStep step : plan.steps()) {
            progress.accept(run(handle, step));
          }
          unlock(handle);
          return plan;
        });
  }

  /**
   * What is odd about a table's columns, and what its rows hold that gameq cannot read; reads the
   * table.
   *
   * @throws GameQueueException when MySQL does not answer
   */
  public List<String> warningsOfRows(TableSpec table) {
    List<String> warnings = new ArrayList<>(new DroppedColumns(mysql).oddities(table.name()));
    warnings.addAll(mysql.ask(handle -> InvalidValues.look(handle.getConnection(), table.name())));
    return warnings;
  }

  /** What information_schema says of it now. */
  public SchemaSnapshot snapshot() {
    return mysql.ask(SchemaSnapshot::read);
  }

  /** Whether these tables can be managed, registered or not; in their order. */
  public List<TableInspection> inspect(List<TableSpec> tables) {
    return mysql.ask(handle -> TableInspection.of(handle, SchemaSnapshot.read(handle), tables));
  }

  /** What ends the flaws of these tables; changes nothing. */
  public TableFix.Script fixes(List<TableSpec> tables) {
    return mysql.ask(
        handle -> {
          SchemaSnapshot schema = SchemaSnapshot.read(handle);
          return new TableFix.Fixes(handle, schema, TableInspection.of(handle, schema, tables))
              .script();
        });
  }

  /**
   * Runs a script. It copies tables; foreign keys in the way are gone until its end.
   *
   * @return each statement that MySQL refused, with its error: the others are done
   * @throws GameQueueException when MySQL does not answer; statements before that are done
   */
  public List<String> apply(TableFix.Script script) {
    return mysql.ask(
        handle -> {
          lock(handle);
          List<String> refused = new ArrayList<>();
          for (String sql : script.statements()) {
            try {
              execute(handle, sql);
            } catch (SQLException e) {
              if (ErrorKind.of(e) == ErrorKind.OUTAGE) {
                throw e;
              }
              refused.add("%s: %s".formatted(sql.replaceAll("\\s+", " "), e.getMessage()));
            }
          }
          unlock(handle);
          return refused;
        });
  }

  @Override
  public void close() {
    mysql.close();
  }

  private MigrationPlan plan(Handle handle, Target target) throws SQLException {
    return MigrationPlan.of(
        SchemaState.read(handle),
        target,
        TableInspection.of(handle, SchemaSnapshot.read(handle), target.tables()));
  }

  private static void lock(Handle handle) {
    // A lock's name has 64 characters at most.
    Integer got =
        handle
            .createQuery("SELECT GET_LOCK(CONCAT('gameq:', LEFT(DATABASE(), 58)), :seconds)")
            .bind("seconds", MIGRATION_LOCK_SECONDS)
            .mapTo(Integer.class)
            .one();
    if (!Integer.valueOf(1).equals(got)) {
      throw new GameQueueException(
          ("another 'schema migrate' has been running in this database for %s s: wait"
                  + " until it is done")
              .formatted(MIGRATION_LOCK_SECONDS));
    }
  }

  private static void unlock(Handle handle) {
    handle.execute("DO RELEASE_LOCK(CONCAT('gameq:', LEFT(DATABASE(), 58)))");
  }

  private static String run(Handle handle, MigrationStep step) {
    SQLException refusal = null;
    for (MigrationStep.Way way : step.ways()) {
      try {
        execute(handle, way.sql());
        return refusal == null
            ? step.purpose()
            : "%s (not instantly: %s)".formatted(step.purpose(), way.what());
      } catch (SQLException e) {
        if (refusal == null && e.getErrorCode() == COLUMN_IS_THERE) {
          return step.purpose();
        }
        if (refusal != null) {
          e.addSuppressed(refusal);
        }
        refusal = e;
        if (!NOT_IN_THIS_WAY.contains(e.getErrorCode())) {
          break;
        }
      }
    }
    SQLException last = Objects.requireNonNull(refusal);
    String remedy =
        last.getErrorCode() == LOCK_WAIT_TIMEOUT
            ? "some transaction holds the table: run this again when it has ended"
            : NOT_IN_THIS_WAY.contains(last.getErrorCode())
                ? step.remedy() + "; what was done stays done"
                : "correct this and run it again, what was done stays done";
    throw new GameQueueException("%s failed (%s)".formatted(step.purpose(), remedy), last);
  }

  // By JDBC itself: Jdbi would take ':' and '?' in a name for parameters.
  private static void execute(Handle handle, String sql) throws SQLException {
    try (Statement statement = handle.getConnection().createStatement()) {
      statement.execute(sql);
    }
  }

  /**
   * Looks for values that a server without strict mode took: dates that do not exist, such as
   * 0000-00-00, for which Java has no value, so that an owner with one cannot be opened; and the
   * empty text of an ENUM that has no such member, which MySQL does not take back. Stateless.
   */
  static final class InvalidValues {
    private static final int MOST_SECONDS = 10;

    private InvalidValues() {}

    private record LaxColumn(String name, boolean hasZeroDate, boolean isEnum) {}

    /** Warnings of one table; reads it whole for each column of such a type, for at most 10 s. */
    static List<String> look(Connection connection, String table) throws SQLException {
      List<LaxColumn> columns =
          Sql.list(
              connection,
              "SELECT COLUMN_NAME, COALESCE(COLUMN_DEFAULT, '') LIKE '%-00%', DATA_TYPE = 'enum'"
                  + " FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND"
                  + " TABLE_NAME = ? AND DATA_TYPE IN ('date', 'datetime', 'timestamp', 'enum')"
                  + " ORDER BY ORDINAL_POSITION",
              rs -> new LaxColumn(rs.getString(1), rs.getBoolean(2), rs.getBoolean(3)),
              table);
      List<String> warnings = new ArrayList<>();
      for (LaxColumn column : columns) {
        if (column.hasZeroDate) {
          warnings.add(
              ("column %s has a date with a zero in it for its default, which Java has"
                      + " no value for: change the default")
                  .formatted(column.name));
        }
        look(connection, table, column, warnings);
      }
      return warnings;
    }

    private static void look(
        Connection connection, String table, LaxColumn column, List<String> warnings)
        throws SQLException {
      String quoted = JdbcValues.quoted(column.name);
      String where =
          column.isEnum
              ? quoted + " = 0"
              : ("%1$s LIKE '%%-00%%' OR SUBSTR(%1$s, 9, 2) >"
                      + " DAY(LAST_DAY(CONCAT(SUBSTR(%1$s, 1, 8), '01')))")
                  .formatted("CAST(%s AS CHAR)".formatted(quoted));
      String what =
          column.isEnum
              ? "the empty text of values that were no member"
              : "dates that do not exist";
      String so =
          column.isEnum
              ? "which MySQL does not take any more: such a row is refused until an update gives"
                  + " the column a member"
              : "such as 0000-00-00 or 2004-02-31, which Java has no value for: owners with such a"
                  + " row cannot be opened until it is corrected";
      String sql = "SELECT 1 FROM " + JdbcValues.quoted(table) + " WHERE " + where + " LIMIT 1";
      try {
        if (!Sql.listWithin(connection, MOST_SECONDS, sql, rs -> true).isEmpty()) {
          warnings.add("column %s holds %s, %s".formatted(column.name, what, so));
        }
      } catch (SQLException e) {
        if (ErrorKind.of(e) != ErrorKind.SLOW) {
          throw e;
        }
        warnings.add(
            "column %s was not searched whole for %s: it took longer than %s s"
                .formatted(column.name, what, MOST_SECONDS));
      }
    }
  }

  /**
   * Columns that are dropped on purpose, in {@code gameq_dropped_column}. Thread-safe; all throw
   * {@link io.gameq.MySqlException} when MySQL does not answer.
   */
  public static final class DroppedColumns {
    private final MySql mysql;

    /** Over connections that somebody else closes. */
    public DroppedColumns(MySql mysql) {
      this.mysql = mysql;
    }

    /** Rows that name this column are to be written without it once the table lacks it. */
    public void announce(String table, String column) {
      mysql.execute(
          "INSERT IGNORE INTO gameq_dropped_column (table_name, column_name, announced_at) VALUES"
              + " (?, ?, UTC_TIMESTAMP(3))",
          table,
          column);
    }

    /** Takes that back; returns whether it was announced. */
    public boolean withdraw(String table, String column) {
      String sql = "DELETE FROM gameq_dropped_column WHERE table_name = ? AND column_name = ?";
      return mysql.execute(sql, table, column) > 0;
    }

    /**
     * Names of all columns that rows of a table were ever encoded with, as far as they are known.
     * The set takes capitals and small letters for the same, as MySQL does.
     */
    public Set<String> everKnown(String table) {
      return mysql.ask(handle -> everKnown(handle.getConnection(), table));
    }

    private static Set<String> everKnown(Connection connection, String table) throws SQLException {
      Set<String> known = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
      Sql.select(
          connection,
          "SELECT columns FROM gameq_layout WHERE table_name = ?",
          rs -> known.addAll(Table.namesInLayout(rs.getString(1))),
          table);
      return known;
    }

    /**
     * What is odd about the columns of a managed table: some are gone and nobody announced it, or
     * are announced and there. Empty where gameq's own tables are missing.
     */
    public List<String> oddities(String table) {
      return mysql.ask(handle -> oddities(handle.getConnection(), table));
    }

    private static List<String> oddities(Connection connection, String table) throws SQLException {
      List<String> own =
          Sql.list(
              connection,
              "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND"
                  + " TABLE_NAME IN ('gameq_layout', 'gameq_dropped_column')",
              rs -> rs.getString(1));
      if (own.size() < 2) {
        return List.of();
      }
      Set<String> there = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
      Sql.select(
          connection,
          "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND"
              + " TABLE_NAME = ?",
          rs -> there.add(rs.getString(1)),
          table);
      Set<String> announced = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
      announced.addAll(CatalogReader.dropped(connection).getOrDefault(table, Set.of()));
      Set<String> gone = everKnown(connection, table);
      gone.removeAll(there);
      gone.removeAll(announced);
      List<String> found = new ArrayList<>();
      if (!gone.isEmpty()) {
        found.add(
            ("rows were once written with %s, which the table lacks: such rows would wait, so where"
                    + " that was dropped on purpose run 'schema drop-column %s %s'")
                .formatted(String.join(" and ", gone), table, String.join(" ", gone)));
      }
      announced.retainAll(there);
      for (String column : announced) {
        found.add(
            ("column %1$s is announced as dropped and is there: drop it, or take that back by"
                    + " 'schema drop-column --undo %2$s %1$s'")
                .formatted(column, table));
      }
      return found;
    }
  }
}

package io.gameq.lab.mysql;

import io.gameq.GameQueueException;
import io.gameq.Row;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.Sql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import io.gameq.rows.TableRow;
import io.gameq.writer.mysql.MigrationPlan;
import io.gameq.writer.mysql.SchemaDatabase;
import io.gameq.writer.mysql.TableFix;
import io.gameq.writer.mysql.TableInspection;
import io.gameq.writer.schema.OwnerGuess;
import io.gameq.writer.schema.OwnerGuess.SchemaDraft;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The database of a demo or a benchmark, past gameq: filled at the start, compared at the end.
 * Thread-safe.
 */
public final class ScratchDatabase implements AutoCloseable {
  private final MySqlConfig config;
  private final MySql mysql;

  /**
   * Connects to a database that has no tables yet.
   *
   * @throws GameQueueException when it has: it touches nothing that others made
   */
  public ScratchDatabase(MySqlConfig config) {
    this.config = config;
    this.mysql = MySqlPool.open(config, "scratch");
    long tables =
        number("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()");
    if (tables > 0) {
      mysql.close();
      throw new GameQueueException(
          ("database '%s' has %s tables: this command wants an empty one, which it fills"
                  + " and leaves; DROP DATABASE and CREATE DATABASE it, or name another")
              .formatted(config.database(), tables));
    }
  }

  /** Creates a database on a server that {@code server} names without one. */
  public static void create(MySqlConfig server, String database) {
    try (MySql mysql = MySqlPool.open(server, "scratch-setup");
        Connection connection = mysql.connection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE DATABASE " + JdbcValues.quoted(database) + " CHARACTER SET utf8mb4");
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** The server's name and version. */
  public static String version(MySqlConfig config) {
    try (MySql mysql = MySqlPool.open(config.withPoolSize(1), "scratch-setup");
        Connection connection = mysql.connection();
        Statement statement = connection.createStatement();
        ResultSet version = statement.executeQuery("SELECT VERSION()")) {
      version.next();
      String text = version.getString(1);
      int end = text.indexOf('-');
      return (text.contains("MariaDB") ? "MariaDB " : "MySQL ")
          + (end < 0 ? text : text.substring(0, end));
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** What a workload's tables hold. */
  public StoredRows rows() {
    return new StoredRows(mysql);
  }

  /** As who made the database. */
  public MySql mysql() {
    return mysql;
  }

  /**
   * Runs statements one after the other on one connection.
   *
   * @throws GameQueueException naming the first one that failed; those before it are done
   */
  public void run(List<String> statements) {
    run(mysql, statements);
  }

  private static void run(MySql mysql, List<String> statements) {
    try (Connection connection = mysql.connection();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        try {
          statement.execute(sql);
        } catch (SQLException e) {
          throw new GameQueueException(
              "statement '%s' failed: %s"
                  .formatted(sql.lines().findFirst().orElse(""), e.getMessage()),
              e);
        }
      }
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** The same on a connection that nobody uses afterwards, whatever they set of it. */
  public void runAlone(List<String> statements) {
    try (MySql alone = MySqlPool.open(config.withPoolSize(1), "scratch-file")) {
      run(alone, statements);
    }
  }

  /** The names of all other databases of the server, as far as the user may see them. */
  public List<String> others() {
    return mysql
        .jdbi()
        .withHandle(
            handle ->
                handle
                    .createQuery(
                        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA"
                            + " WHERE SCHEMA_NAME <> DATABASE()")
                    .mapTo(String.class)
                    .list());
  }

  /** Which tables could be managed, by these owner columns or, if there are none, any. */
  public SchemaDraft draft(List<String> ownerColumns) {
    try (SchemaDatabase schema = SchemaDatabase.open(config)) {
      return OwnerGuess.draft(schema, ownerColumns);
    }
  }

  /** What ends the flaws of these tables. */
  public TableFix.Script fixes(List<TableSpec> tables) {
    try (SchemaDatabase schema = SchemaDatabase.open(config)) {
      return schema.fixes(tables);
    }
  }

  /** Does that; returns what MySQL refused of it. */
  public List<String> apply(TableFix.Script fixes) {
    try (SchemaDatabase schema = SchemaDatabase.open(config)) {
      return schema.apply(fixes);
    }
  }

  /** Whether these tables can be managed now. */
  public List<TableInspection> inspect(List<TableSpec> tables) {
    try (SchemaDatabase schema = SchemaDatabase.open(config)) {
      return schema.inspect(tables);
    }
  }

  /** Does what {@code schema migrate} does, for tables that can be managed. */
  public Catalog migrate(String namespace, int slots, List<TableSpec> tables) {
    try (SchemaDatabase schema = SchemaDatabase.open(config)) {
      schema.migrate(new MigrationPlan.Target(namespace, slots, tables, true), step -> {});
    }
    return CatalogReader.read(mysql);
  }

  /** The names of the tables that are managed. */
  public List<String> managedTables() {
    return CatalogReader.read(mysql).tables().stream().map(Table::name).toList();
  }

  /** The tables, columns and keys of the database. */
  public SchemaFacts facts() {
    try (Connection connection = mysql.connection()) {
      return SchemaFacts.read(connection);
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** Every row of a table as gameq would return it, streamed: memory holds one at a time. */
  public void scan(Table table, Consumer<Row> rows) {
    String sql =
        table.columns().stream()
            .map(JdbcValues::selectExpression)
            .collect(
                Collectors.joining(", ", "SELECT ", " FROM " + JdbcValues.quoted(table.name())));
    int width = table.columns().size();
    try (Connection connection = mysql.connection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setFetchSize(Integer.MIN_VALUE); // the driver's word for streaming
      try (ResultSet found = statement.executeQuery()) {
        while (found.next()) {
          @Nullable Object[] values = new @Nullable Object[width];
          for (int i = 0; i < width; i++) {
            values[i] = JdbcValues.read(found, i + 1, table.columns().get(i));
          }
          rows.accept(new TableRow(table, values));
        }
      }
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** Deletes a row behind gameq's back. */
  public void delete(Table table, Row row) {
    String where =
        table.keyColumns().stream()
            .map(column -> JdbcValues.quoted(column.name()) + " = ?")
            .collect(Collectors.joining(" AND "));
    execute(
        "DELETE FROM " + JdbcValues.quoted(table.name()) + " WHERE " + where,
        table.keyColumns(),
        Arrays.asList(new RowKey(table, row.key()).parts()));
  }

  /** Inserts a row past gameq; columns that are not named take their default. */
  public void insert(String table, List<Column> columns, List<? extends @Nullable Object> values) {
    String names =
        columns.stream().map(c -> JdbcValues.quoted(c.name())).collect(Collectors.joining(", "));
    execute(
        "INSERT INTO %s (%s) VALUES (%s)"
            .formatted(
                JdbcValues.quoted(table),
                names,
                columns.stream()
                    .map(column -> column.type().jdbc().placeholder())
                    .collect(Collectors.joining(", "))),
        columns,
        values);
  }

  private void execute(String sql, List<Column> columns, List<? extends @Nullable Object> values) {
    List<@Nullable Object> arguments = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      arguments.add(JdbcValues.parameter(columns.get(i), values.get(i)));
    }
    try (Connection connection = mysql.connection()) {
      int unused = Sql.execute(connection, sql, arguments.toArray());
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** Up to {@code most} different values of some columns. */
  public List<Object[]> tuples(String table, List<Column> columns, int most) {
    String names =
        columns.stream().map(JdbcValues::selectExpression).collect(Collectors.joining(", "));
    try (Connection connection = mysql.connection();
        Statement statement = connection.createStatement();
        ResultSet found =
            statement.executeQuery(
                "SELECT DISTINCT %s FROM %s LIMIT %s"
                    .formatted(names, JdbcValues.quoted(table), most))) {
      List<Object[]> tuples = new ArrayList<>();
      while (found.next()) {
        Object[] tuple = new Object[columns.size()];
        boolean complete = true;
        for (int i = 0; i < tuple.length; i++) {
          Object part = JdbcValues.read(found, i + 1, columns.get(i));
          complete &= part != null;
          tuple[i] = part == null ? "" : part;
        }
        if (complete) {
          tuples.add(tuple);
        }
      }
      return tuples;
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** The largest value of an integer column, 0 when there is none. */
  public long largest(String table, String column) {
    return number(
        "SELECT COALESCE(MAX(%s), 0) FROM %s"
            .formatted(JdbcValues.quoted(column), JdbcValues.quoted(table)));
  }

  private long number(String sql) {
    try (Connection connection = mysql.connection();
        Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery(sql)) {
      found.next();
      return found.getLong(1);
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  private static GameQueueException failed(SQLException e) {
    return new GameQueueException("the database refuses: " + e.getMessage(), e);
  }

  @Override
  public void close() {
    mysql.close();
  }
}

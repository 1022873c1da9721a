package io.gameq.mysql;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.schema.CatalogReader;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the catalogue lets in comes back bit for bit, from MySQL and from the encoded row. */
class TypeRoundTripTest {
  private static final int RANDOM_VALUES = 40;
  private static final long SEED = Long.getLong("gameq.seed", System.nanoTime());
  private static final List<Samples> SAMPLES = Samples.all();
  private static final TestDatabase DATABASE = new TestDatabase();

  private static Catalog catalog = new Catalog(List.of(), Map.of(), false);

  @BeforeAll
  static void createOneTablePerType() throws SQLException {
    System.out.println("TypeRoundTripTest: -Dgameq.seed=" + SEED);
    List<String> sql = new ArrayList<>();
    sql.add(
        "CREATE TABLE gameq_table (table_name VARCHAR(64), owner_kind VARCHAR(32), owner_column"
            + " VARCHAR(64))");
    for (int i = 0; i < SAMPLES.size(); i++) {
      sql.add(
          ("CREATE TABLE t%d (id INT PRIMARY KEY, `v``` %s NULL, gq_version BIGINT"
                  + " UNSIGNED NOT NULL DEFAULT 0) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
              .formatted(i, SAMPLES.get(i).type()));
      sql.add("INSERT INTO gameq_table VALUES ('t%d', 'player', 'id')".formatted(i));
    }
    sql.add(
        "CREATE TABLE keyed (owner BIGINT UNSIGNED, b VARBINARY(20), f BINARY(3), s VARCHAR(20)"
            + " COLLATE utf8mb4_bin, a CHAR(5) CHARACTER SET ascii COLLATE ascii_bin, n"
            + " DECIMAL(20,5), d DATE, dt DATETIME(6), ts TIMESTAMP(3), t TIME(6), y YEAR, e"
            + " ENUM('x','y'), m SET('p','q'), gq_version BIGINT UNSIGNED NOT NULL DEFAULT 0,"
            + " PRIMARY KEY (owner, b, f, s, a, n, d, dt, ts, t, y, e, m)) CHARACTER SET utf8mb4");
    sql.add("INSERT INTO gameq_table VALUES ('keyed', 'player', 'owner')");
    DATABASE.execute(sql.toArray(String[]::new));
    catalog = CatalogReader.read(DATABASE.mysql(false));
    assertEquals(Map.of(), catalog.unmanaged());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void everyValueComesBackBitForBit(boolean serverPrepared) throws SQLException {
    Random random = new Random(SEED);
    try (Connection connection = DATABASE.mysql(serverPrepared).connection()) {
      for (int i = 0; i < SAMPLES.size(); i++) {
        Samples samples = SAMPLES.get(i);
        Table table = catalog.table("t" + i);
        List<@Nullable Object> values = new ArrayList<>(samples.extremes());
        values.add(null);
        for (int n = 0; n < RANDOM_VALUES; n++) {
          values.add(samples.random().apply(random));
        }
        connection.createStatement().execute("DELETE FROM " + table);
        List<@Nullable Object[]> rows = insert(connection, table, values);
        List<@Nullable Object[]> read = select(connection, table, "ORDER BY id");
        assertEquals(rows.size(), read.size());
        for (int n = 0; n < rows.size(); n++) {
          assertArrayEquals(rows.get(n), read.get(n), samples.type() + " value " + n);
        }
      }
    }
  }

  @Test
  void everyValueSurvivesTheEncodedRow() {
    Random random = new Random(SEED);
    RowCodec codec = new RowCodec((table, fingerprint) -> null, Clock.systemUTC());
    for (int i = 0; i < SAMPLES.size(); i++) {
      Table table = catalog.table("t" + i);
      List<@Nullable Object> values = new ArrayList<>(SAMPLES.get(i).extremes());
      values.add(null);
      values.add(SAMPLES.get(i).random().apply(random));
      for (Object value : values) {
        @Nullable Object[] row = canonical(table, new @Nullable Object[] {1, value});
        @Nullable Object[] read = codec.decode(table, codec.encode(table, RowOp.PUT, row)).values();
        assertArrayEquals(row, read, SAMPLES.get(i).type());
        // What is canonical stays as it is when it is put again.
        assertArrayEquals(row, canonical(table, read), SAMPLES.get(i).type());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void findsRowsByEveryKindOfKey(boolean serverPrepared) throws SQLException {
    Table table = catalog.table("keyed");
    BigInteger last = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
    byte[] bytes = {0, -1, 39};
    @Nullable Object[] row =
        canonical(
            table,
            new Object[] {
              last,
              bytes,
              bytes,
              "Bob'\0\uD83D\uDC09",
              "a",
              new BigDecimal("123456789012345.00001"),
              LocalDate.of(1, 1, 1),
              LocalDateTime.of(9999, 12, 31, 23, 59, 59, 999_999_000),
              Instant.ofEpochSecond(1, 1_000_000),
              Duration.ofSeconds(-3_000_000, 1_000),
              1901,
              "y",
              "p,q"
            });
    try (Connection connection = DATABASE.mysql(serverPrepared).connection()) {
      connection.createStatement().execute("DELETE FROM keyed");
      insertRow(connection, table, row);
      @Nullable Object[] neighbour = row.clone();
      neighbour[0] = last.subtract(BigInteger.ONE);
      insertRow(connection, table, neighbour);
      String where =
          table.keyColumns().stream()
              .map(c -> JdbcValues.quoted(c.name()) + " = ?")
              .collect(Collectors.joining(" AND ", "WHERE ", ""));
      List<@Nullable Object[]> found = select(connection, table, where, table.keyOf(row));
      assertEquals(1, found.size());
      assertArrayEquals(row, found.get(0));
      assertEquals("const", explainType(connection, table, where, table.keyOf(row)));
    }
  }

  @Test
  void readsNullOfEveryType() throws SQLException {
    try (Connection connection = DATABASE.mysql(false).connection()) {
      for (int i = 0; i < SAMPLES.size(); i++) {
        Table table = catalog.table("t" + i);
        connection.createStatement().execute("DELETE FROM " + table);
        connection.createStatement().execute("INSERT INTO " + table + " (id) VALUES (1)");
        assertNull(select(connection, table, "").get(0)[1], SAMPLES.get(i).type());
      }
    }
  }

  @Test
  void managesEveryTypeOnThisServer() throws SQLException {
    assertTrue(catalog.tables().size() == SAMPLES.size() + 1, "MariaDB: " + DATABASE.isMariaDb());
  }

  private static List<@Nullable Object[]> insert(
      Connection connection, Table table, List<@Nullable Object> values) throws SQLException {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (int n = 0; n < values.size(); n++) {
      @Nullable Object[] row = canonical(table, new @Nullable Object[] {n, values.get(n)});
      insertRow(connection, table, row);
      rows.add(row);
    }
    return rows;
  }

  private static void insertRow(Connection connection, Table table, @Nullable Object[] row)
      throws SQLException {
    String columns =
        table.columns().stream()
            .map(c -> JdbcValues.quoted(c.name()))
            .collect(Collectors.joining(","));
    String marks =
        table.columns().stream()
            .map(column -> column.type().jdbc().placeholder())
            .collect(Collectors.joining(","));
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO " + table + " (" + columns + ") VALUES (" + marks + ")")) {
      for (int i = 0; i < row.length; i++) {
        insert.setObject(i + 1, JdbcValues.parameter(table.columns().get(i), row[i]));
      }
      insert.executeUpdate();
    }
  }

  private static List<@Nullable Object[]> select(
      Connection connection, Table table, String rest, Object... key) throws SQLException {
    List<@Nullable Object[]> rows = new ArrayList<>();
    try (PreparedStatement select = prepare(connection, "", table, rest, key);
        ResultSet found = select.executeQuery()) {
      while (found.next()) {
        @Nullable Object[] row = new @Nullable Object[table.columns().size()];
        for (int i = 0; i < row.length; i++) {
          row[i] = JdbcValues.read(found, i + 1, table.columns().get(i));
        }
        rows.add(row);
      }
    }
    return rows;
  }

  private static String explainType(Connection connection, Table table, String where, Object... key)
      throws SQLException {
    String explain = DATABASE.isMariaDb() ? "EXPLAIN " : "EXPLAIN FORMAT=TRADITIONAL ";
    try (PreparedStatement statement = prepare(connection, explain, table, where, key);
        ResultSet plan = statement.executeQuery()) {
      return plan.next() ? plan.getString("type") : "none";
    }
  }

  private static PreparedStatement prepare(
      Connection connection, String prefix, Table table, String rest, Object... key)
      throws SQLException {
    String columns =
        table.columns().stream().map(JdbcValues::selectExpression).collect(Collectors.joining(","));
    PreparedStatement statement =
        connection.prepareStatement(prefix + "SELECT " + columns + " FROM " + table + " " + rest);
    List<Column> keyColumns = table.keyColumns();
    for (int i = 0; i < key.length; i++) {
      statement.setObject(i + 1, JdbcValues.parameter(keyColumns.get(i), key[i]));
    }
    return statement;
  }

  private static @Nullable Object[] canonical(Table table, @Nullable Object[] values) {
    @Nullable Object[] row = new @Nullable Object[values.length];
    for (int i = 0; i < row.length; i++) {
      row[i] = table.columns().get(i).canonical(values[i]);
    }
    return row;
  }
}

package io.gameq.mysql.schema;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.RowRefusedException;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.TestDatabase;
import io.gameq.mysql.schema.TableInspector.TableSpec;
import io.gameq.mysql.schema.TableInspector.VersionColumn;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CatalogReaderTest {
  private static final String VERSION = ", gq_version BIGINT UNSIGNED NOT NULL DEFAULT 0";
  private static final TestDatabase DATABASE = new TestDatabase();
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-11-20T10:00:00.123456Z"), ZoneOffset.UTC);

  @BeforeAll
  static void createTables() throws SQLException {
    DATABASE.execute(
        "CREATE TABLE gameq_table (table_name VARCHAR(64), owner_kind VARCHAR(32), owner_column"
            + " VARCHAR(64))",
        "CREATE TABLE guild (id INT AUTO_INCREMENT PRIMARY KEY, tag VARCHAR(9) NOT NULL UNIQUE"
            + VERSION
            + ")",
        "CREATE TABLE member (guild_id INT, slot INT, KEY (slot), PRIMARY KEY (slot, guild_id),"
            + " shout VARCHAR(9) AS (slot) VIRTUAL, FOREIGN KEY (guild_id) REFERENCES guild (id) ON"
            + " DELETE CASCADE"
            + VERSION
            + ")",
        "CREATE TABLE defaults (id INT PRIMARY KEY, a_i INT NOT NULL DEFAULT -5, a_n INT, a_u"
            + " BIGINT UNSIGNED DEFAULT 18446744073709551615, a_d DECIMAL(5,2) NOT NULL DEFAULT"
            + " 1.5, a_f FLOAT DEFAULT 0.1, a_b BIT(3) DEFAULT b'101', a_y YEAR DEFAULT 2000, a_s"
            + " VARCHAR(20) NOT NULL DEFAULT 'it''s \\\\ (x)', a_empty VARCHAR(9) NOT NULL DEFAULT"
            + " '', a_text VARCHAR(9) DEFAULT 'NULL', a_e ENUM('x','y') DEFAULT 'y', a_m"
            + " SET('p','q') DEFAULT 'q', a_v VARBINARY(5) DEFAULT 'ab', a_date DATE DEFAULT"
            + " '2020-02-29', a_dt DATETIME(3) DEFAULT '2020-01-02 03:04:05.678', a_t TIME(1)"
            + " DEFAULT '-01:02:03.5', a_now DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3), a_ts"
            + " TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP"
            + VERSION
            + ")",
        "CREATE TABLE required (id INT PRIMARY KEY, a INT NOT NULL, e INT DEFAULT (1 + 2), t"
            + " TIMESTAMP NULL DEFAULT '2020-01-01 00:00:00'"
            + VERSION
            + ")",
        "CREATE TABLE no_version (id INT PRIMARY KEY)",
        "CREATE TABLE bad_version (id INT PRIMARY KEY, gq_version BIGINT NOT NULL DEFAULT 0)",
        "CREATE TABLE isam (id INT PRIMARY KEY) ENGINE=MyISAM",
        "CREATE TABLE no_key (id INT NOT NULL)",
        "CREATE VIEW view_of AS SELECT * FROM no_key",
        "CREATE TABLE nocase (id VARCHAR(9) COLLATE utf8mb4_general_ci PRIMARY KEY)",
        "CREATE TABLE shape (id INT PRIMARY KEY, p POINT)",
        "CREATE TABLE charset_of (id INT PRIMARY KEY, c VARCHAR(9) CHARACTER SET sjis)",
        "CREATE TABLE prefix_of (id INT, t VARCHAR(300) COLLATE utf8mb4_bin, PRIMARY KEY (id,"
            + " t(10)))",
        "CREATE TABLE wide_key (id INT, b BINARY(255), c BINARY(9), PRIMARY KEY (id, b, c))",
        "CREATE TABLE null_owner (id INT PRIMARY KEY, o INT NULL, d DATE NOT NULL)",
        "INSERT INTO gameq_table VALUES ('guild','guild','id'), ('member','guild','guild_id'),"
            + " ('defaults','player','id'), ('required','player','id'),"
            + " ('no_version','player','id'), ('isam','player','id'), ('absent','player','id')");
  }

  @Test
  void readsTablesKeysAndOrder() {
    Catalog catalog = read();
    assertEquals(
        List.of("defaults", "guild", "required", "member"),
        catalog.tables().stream().map(Table::name).toList());
    Table member = catalog.table("member");
    assertEquals(
        List.of("slot", "guild_id"), member.keyColumns().stream().map(Column::name).toList());
    assertEquals(List.of("guild_id", "slot"), member.columns().stream().map(Column::name).toList());
    assertEquals(1, member.foreignKeys().rank());
    assertFalse(member.hasOtherUniqueKeys());
    assertTrue(catalog.table("guild").hasOtherUniqueKeys());
    assertEquals(
        List.of("guild", "member"), catalog.ownedBy("guild").stream().map(Table::name).toList());
  }

  @Test
  void saysWhyTablesAreNotManaged() {
    Map<String, String> unmanaged = read().unmanaged();
    assertTrue(String.valueOf(unmanaged.get("no_version")).contains("gameq-writer schema migrate"));
    assertTrue(String.valueOf(unmanaged.get("isam")).contains("InnoDB"));
    assertTrue(String.valueOf(unmanaged.get("absent")).contains("no such table"));
    assertEquals(3, unmanaged.size());
  }

  @Test
  void readsDefaultsOfEveryKind() {
    Table table = read().table("defaults");
    Object[] row = CanonicalRow.of(table, Map.of("id", 1), CLOCK);
    assertArrayEquals(
        new Object[] {
          1L,
          -5L,
          null,
          BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE),
          new BigDecimal("1.50"),
          0.1f,
          BigInteger.valueOf(5),
          2000L,
          "it's \\ (x)",
          "",
          "NULL",
          "y",
          "q",
          "ab".getBytes(StandardCharsets.US_ASCII),
          LocalDate.of(2020, 2, 29),
          LocalDateTime.of(2020, 1, 2, 3, 4, 5, 678_000_000),
          Duration.ofMillis(-3_723_500),
          LocalDateTime.of(2026, 11, 20, 10, 0, 0, 123_000_000),
          Instant.parse("2026-11-20T10:00:00Z")
        },
        row);
  }

  @Test
  void requiresColumnsWhoseDefaultCannotBeTold() {
    Table table = read().table("required");
    CanonicalRow.of(table, Map.of("id", 1, "a", 1, "e", 3, "t", Instant.ofEpochSecond(1)), CLOCK);
    for (String missing : List.of("a", "e", "t")) {
      Map<String, Object> values =
          new java.util.HashMap<>(Map.of("id", 1, "a", 1, "e", 3, "t", Instant.ofEpochSecond(1)));
      values.remove(missing);
      assertThrows(RowRefusedException.class, () -> CanonicalRow.of(table, values, CLOCK));
    }
    Table guild = read().table("guild");
    assertThrows(
        RowRefusedException.class, () -> CanonicalRow.of(guild, Map.of("tag", "x"), CLOCK));
  }

  @ParameterizedTest
  @CsvSource({
    "absent, id, no such table",
    "isam, id, use InnoDB",
    "view_of, id, it is a view",
    "no_key, id, no primary key",
    "no_key, nope, no owner column nope",
    "nocase, id, would merge 'Bob' and 'bob'",
    "shape, id, column type point is not supported",
    "charset_of, id, character set sjis is not supported",
    "prefix_of, id, only a prefix of column t",
    "wide_key, id, at least 528 bytes",
    "null_owner, o, make it NOT NULL",
    "null_owner, d, 'use an integer, CHAR, VARCHAR or BINARY(16)'",
    "member, shout, owner column shout is generated",
    "bad_version, id, is not BIGINT UNSIGNED NOT NULL DEFAULT 0"
  })
  void namesTheReasonAgainstATable(String table, String ownerColumn, String reason) {
    TableInspector.Result result = inspect(table, ownerColumn);
    assertTrue(
        result.flaws().stream().anyMatch(of -> of.reason().contains(reason)), result::toString);
  }

  @Test
  void tellsTheStateOfTheVersionColumn() {
    assertEquals(VersionColumn.PRESENT, inspect("guild", "id").versionColumn());
    assertEquals(VersionColumn.MISSING, inspect("no_version", "id").versionColumn());
    assertEquals(List.of(), inspect("no_version", "id").flaws());
    assertEquals(VersionColumn.WRONG, inspect("bad_version", "id").versionColumn());
  }

  @Test
  void saysWhatToRunWhereTheRegistryIsMissing() {
    TestDatabase empty = new TestDatabase();
    GameQueueException e =
        assertThrows(GameQueueException.class, () -> CatalogReader.read(empty.mysql(false)));
    assertTrue(String.valueOf(e.getMessage()).contains("schema migrate"));
  }

  private static Catalog read() {
    return CatalogReader.read(DATABASE.mysql(false));
  }

  private static TableInspector.Result inspect(String table, String ownerColumn) {
    return TableInspector.inspect(
        DATABASE.mysql(false).ask(SchemaSnapshot::read),
        new TableSpec(table, "player", ownerColumn));
  }

  /** MariaDB names no parent to a user who has no right on it. */
  @Test
  void aParentThatTheUserMayNotSeeCountsAsAnotherDatabases() throws SQLException {
    MySqlServer server = TestServers.mysql().freshDatabase("hidden");
    String user = "seer" + Integer.toHexString(server.jdbcUrl().hashCode());
    server.execute(
        "CREATE TABLE gameq_table (table_name VARCHAR(64), owner_kind VARCHAR(32), owner_column"
            + " VARCHAR(64))",
        "INSERT INTO gameq_table VALUES ('hero', 'player', 'player_id')",
        "CREATE TABLE account (id INT PRIMARY KEY)",
        "CREATE TABLE hero (id INT PRIMARY KEY, account_id INT NOT NULL, player_id INT NOT NULL,"
            + " CONSTRAINT of_account FOREIGN KEY (account_id) REFERENCES account (id)"
            + VERSION
            + ")",
        "CREATE USER " + user + " IDENTIFIED BY 'Seen-1-Time'",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON hero TO " + user,
        "GRANT SELECT ON gameq_table TO " + user);
    try (MySql mysql =
        MySqlPool.open(new MySqlConfig(server.jdbcUrl(), user, "Seen-1-Time", 1), "test")) {
      Table hero = CatalogReader.read(mysql).table("hero");
      assertEquals(1, hero.foreignKeys().references().size());
      assertEquals(
          List.of(),
          TableInspector.inspect(
                  mysql.ask(SchemaSnapshot::read), new TableSpec("hero", "player", "player_id"))
              .flaws());
    } finally {
      server.execute("DROP USER " + user);
    }
  }
}

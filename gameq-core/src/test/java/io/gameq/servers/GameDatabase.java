package io.gameq.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;

/** A fresh database with gameq's own tables, and managed tables as a test wants them. */
public final class GameDatabase {
  private static final List<String> FILES =
      List.of(
          "001_setting",
          "002_owner",
          "003_tombstone",
          "004_dead_letter",
          "005_table",
          "006_layout");

  private final MySqlServer server;

  private GameDatabase(MySqlServer server) {
    this.server = server;
  }

  /** Creates the database. */
  public static GameDatabase create(String prefix) throws SQLException {
    GameDatabase database = new GameDatabase(TestServers.mysql().freshDatabase(prefix));
    for (String file : FILES) {
      database.server.execute(text("/io/gameq/sql/" + file + ".sql"));
    }
    return database;
  }

  /**
   * Creates a managed table: {@code columns} is what stands between the brackets of CREATE TABLE.
   */
  public GameDatabase table(String name, String ownerKind, String ownerColumn, String columns)
      throws SQLException {
    server.execute(
        "CREATE TABLE "
            + name
            + " ("
            + columns
            + ", gq_version BIGINT UNSIGNED NOT NULL DEFAULT 0) ENGINE=InnoDB",
        "INSERT INTO gameq_table VALUES ('"
            + name
            + "', '"
            + ownerKind
            + "', '"
            + ownerColumn
            + "')");
    return this;
  }

  public MySqlServer server() {
    return server;
  }

  private static String text(String resource) {
    try (InputStream in = GameDatabase.class.getResourceAsStream(resource)) {
      return new String(
          Objects.requireNonNull(in, resource).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

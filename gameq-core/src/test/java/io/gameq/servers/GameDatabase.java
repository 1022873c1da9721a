package io.gameq.servers;

import io.gameq.mysql.schema.Settings.SchemaFiles;
import io.gameq.rights.MySqlRights.Role;
import java.sql.SQLException;
import java.util.List;

/** A fresh database with gameq's own tables, and managed tables as a test wants them. */
public final class GameDatabase {
  private final MySqlServer server;

  private GameDatabase(MySqlServer server) {
    this.server = server;
  }

  /** Creates the database on the test server. */
  public static GameDatabase create(String prefix) throws SQLException {
    return create(TestServers.mysql(), prefix);
  }

  /** Creates the database on a server of the test's own. */
  public static GameDatabase create(MySqlServer on, String prefix) throws SQLException {
    GameDatabase database = new GameDatabase(on.freshDatabase(prefix));
    for (SchemaFiles.SchemaFile file : SchemaFiles.all()) {
      database.server.execute(file.statements().toArray(String[]::new));
    }
    database.server.execute(
        "INSERT INTO gameq_setting VALUES ('schema', '" + SchemaFiles.latest() + "')");
    database.server.makeUsers(List.of());
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
    server.makeUsers(List.of(name));
    return this;
  }

  /** As an administrator. */
  public MySqlServer server() {
    return server;
  }

  /** As a user with the least rights of a role. */
  public MySqlServer as(Role role) {
    return server.as(role);
  }
}

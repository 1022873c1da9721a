package io.gameq.writer.campaign;

import io.gameq.lab.servers.EmbeddedMariaDb;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;

/**
 * A MariaDB of the campaign's own, since faults kill and stop it. Used by the campaign's thread.
 */
public final class CampaignMySql implements AutoCloseable {
  private final Path directory;
  private EmbeddedMariaDb server;

  public CampaignMySql(Path directory) {
    this.directory = directory;
    server = start(0);
  }

  private EmbeddedMariaDb start(int port) {
    return EmbeddedMariaDb.start(
        new EmbeddedMariaDb.Options(
            directory,
            port,
            2, // a kill of the process loses nothing of the page cache, and no power is cut here
            List.of("--innodb-lock-wait-timeout=2", "--innodb-deadlock-detect=ON")));
  }

  int port() {
    return server.port();
  }

  long pid() {
    return server.pid();
  }

  /** kill -9. */
  void kill() {
    ProcessHandle process = ProcessHandle.of(server.pid()).orElseThrow();
    process.destroyForcibly();
    process.onExit().join();
    server.close();
  }

  /** After {@link #kill}: on the same data and port. */
  void restart() {
    server = start(server.port());
  }

  /** An administrator's login to the server. */
  MySqlServer admin() {
    return new MySqlServer(server.jdbcUrl(), server.user(), server.password());
  }

  /** An administrator's login to a database. */
  public MySqlServer admin(String database) {
    return new MySqlServer(server.jdbcUrl() + database, server.user(), server.password());
  }

  /** The login of a role to any database; it may not write while read_only is set, unlike root. */
  public static MySqlServer login(Role role) {
    return new MySqlServer("", "", "").as(role);
  }

  /** Where nodes and writers find a database, without a proxy. */
  public String jdbcUrl(String database) {
    return World.jdbcUrl(server.port(), database);
  }

  /** A database with gameq's and the game's tables, and users with the least rights; its name. */
  public String freshDatabase() throws SQLException {
    GameDatabase database = GameDatabase.create(admin(), "campaign");
    for (String table : CampaignTables.NAMES) {
      database.table(table, "player", "player_id", CampaignTables.columns(table));
    }
    String url = database.server().jdbcUrl();
    String name = url.substring(url.lastIndexOf('/') + 1);
    return name;
  }

  @Override
  public void close() {
    server.close();
  }
}

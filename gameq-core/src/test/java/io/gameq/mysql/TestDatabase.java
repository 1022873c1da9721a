package io.gameq.mysql;

import com.zaxxer.hikari.util.DriverDataSource;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import java.sql.SQLException;
import java.util.Properties;

/** A fresh database for one test class, and connections set up as gameq's are. */
public final class TestDatabase {
  private final MySqlServer database = TestServers.mysql().freshDatabase("catalog");

  public void execute(String... statements) throws SQLException {
    database.execute(statements);
  }

  public String name() throws SQLException {
    return database.queryText("SELECT DATABASE()");
  }

  boolean isMariaDb() throws SQLException {
    return database.queryText("SELECT VERSION()").contains("MariaDB");
  }

  public MySql mysql(boolean serverPrepared) {
    String url = database.jdbcUrl();
    return new MySql(
        new DriverDataSource(
            url
                + (url.contains("?") ? "&" : "?")
                + "sessionVariables=time_zone=%27%2B00:00%27,sql_mode=%27STRICT_TRANS_TABLES%27"
                + "&useServerPrepStmts="
                + serverPrepared,
            null,
            new Properties(),
            database.user(),
            database.password()));
  }
}

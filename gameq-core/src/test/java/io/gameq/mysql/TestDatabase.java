package io.gameq.mysql;

import com.mysql.cj.jdbc.MysqlDataSource;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import java.sql.SQLException;
import javax.sql.DataSource;

/** A fresh database for one test class, and connections set up as gameq's are. */
final class TestDatabase {
  private final MySqlServer database = TestServers.mysql().freshDatabase("catalog");

  void execute(String... statements) throws SQLException {
    database.execute(statements);
  }

  boolean isMariaDb() throws SQLException {
    return database.queryText("SELECT VERSION()").contains("MariaDB");
  }

  DataSource dataSource(boolean serverPrepared) {
    MysqlDataSource source = new MysqlDataSource();
    String url = database.jdbcUrl();
    source.setUrl(
        url
            + (url.contains("?") ? "&" : "?")
            + "sessionVariables=time_zone=%27%2B00:00%27,sql_mode=%27STRICT_TRANS_TABLES%27"
            + "&useServerPrepStmts="
            + serverPrepared);
    source.setUser(database.user());
    source.setPassword(database.password());
    return source;
  }
}

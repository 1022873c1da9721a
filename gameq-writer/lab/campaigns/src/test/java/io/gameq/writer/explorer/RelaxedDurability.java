package io.gameq.writer.explorer;

import io.gameq.servers.MySqlServer;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;

/** The server does not wait for its disk meanwhile, where the login may say so. */
final class RelaxedDurability implements AutoCloseable {
  private final MySqlServer server;
  private final Map<String, String> before = new LinkedHashMap<>();

  private RelaxedDurability(MySqlServer server) {
    this.server = server;
  }

  static RelaxedDurability of(MySqlServer server) throws SQLException {
    RelaxedDurability relaxed = new RelaxedDurability(server);
    for (String setting : new String[] {"innodb_flush_log_at_trx_commit", "sync_binlog"}) {
      String was = server.queryText("SELECT @@GLOBAL." + setting);
      try {
        server.execute("SET GLOBAL " + setting + " = 0");
        relaxed.before.put(setting, was);
      } catch (SQLException e) {
        System.out.println("the explorer may be slow, it may not set " + setting + ": " + e);
      }
    }
    return relaxed;
  }

  @Override
  public void close() throws SQLException {
    for (Map.Entry<String, String> setting : before.entrySet()) {
      server.execute("SET GLOBAL " + setting.getKey() + " = " + setting.getValue());
    }
  }
}

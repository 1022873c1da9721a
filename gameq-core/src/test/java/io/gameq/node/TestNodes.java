package io.gameq.node;

import io.gameq.config.GameQueueConfig;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import io.gameq.servers.MySqlServer;
import io.gameq.servers.TestServers;
import io.gameq.servers.Waits;

/** Nodes on the test servers, with the least rights. */
public final class TestNodes {
  private TestNodes() {}

  /** Without a namespace, a name and a WAL directory. */
  public static GameQueueConfigBuilder on(GameDatabase database) {
    MySqlServer mysql = database.as(Role.NODE);
    return GameQueueConfig.builder()
        .callTimeout(Waits.CALL)
        .redis(TestServers.redisUri(Role.NODE))
        .mysql(mysql.jdbcUrl(), mysql.user(), mysql.password());
  }
}

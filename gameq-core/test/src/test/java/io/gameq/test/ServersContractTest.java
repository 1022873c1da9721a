package io.gameq.test;

import io.gameq.lab.servers.EmbeddedMariaDb;
import io.gameq.lab.servers.EmbeddedRedis;
import io.gameq.test.GameQueueTest.OnServers;
import io.gameq.test.GameQueueTest.ServerAddresses;
import java.util.List;
import java.util.function.Supplier;

/** The contract on two real nodes with a Redis, a MariaDB and a writer. */
@OnServers(ServersContractTest.Embedded.class)
class ServersContractTest extends GameContract {
  private static EmbeddedRedis redis;
  private static EmbeddedMariaDb mysql;

  /** Servers of this class alone, started at its first test. */
  static final class Embedded implements Supplier<ServerAddresses> {
    @Override
    public ServerAddresses get() {
      if (redis == null) {
        redis = EmbeddedRedis.start();
        mysql = EmbeddedMariaDb.start(new EmbeddedMariaDb.Options(null, 0, 2, List.of()));
      }
      return new ServerAddresses(redis.uri(), mysql.jdbcUrl(), mysql.user(), mysql.password());
    }
  }
}

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
  /** Servers of this JVM's tests alone, started at the first one. */
  static final class Embedded implements Supplier<ServerAddresses> {
    private static final EmbeddedRedis REDIS = EmbeddedRedis.start();
    private static final EmbeddedMariaDb MYSQL =
        EmbeddedMariaDb.start(new EmbeddedMariaDb.Options(null, 0, 2, List.of()));

    @Override
    public ServerAddresses get() {
      return new ServerAddresses(REDIS.uri(), MYSQL.jdbcUrl(), MYSQL.user(), MYSQL.password());
    }
  }
}

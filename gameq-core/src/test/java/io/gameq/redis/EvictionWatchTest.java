package io.gameq.redis;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisServerCheck.EvictionWatch;
import io.gameq.servers.TestServers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("it fills Redis, or changes its settings")
class EvictionWatchTest {
  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri()));
  private final ControlConnection redis = new ControlConnection(connector);

  private static void setPolicy(String policy) {
    try (var admin = TestServers.redis()) {
      admin.sync().configSet("maxmemory-policy", policy);
    }
  }

  @AfterEach
  void stop() {
    setPolicy(RedisServerCheck.NO_EVICTION);
    redis.close();
    connector.close();
  }

  @Test
  void aPolicyThatIsChangedWhileAllRunsIsNoticed() {
    EvictionWatch watch = new EvictionWatch();
    assertFalse(watch.mayEvict(() -> redis.call(RedisServerCheck::evictionPolicy)));
    setPolicy("allkeys-lru");
    await()
        .atMost(LONG)
        .until(() -> watch.mayEvict(() -> redis.call(RedisServerCheck::evictionPolicy)));
    setPolicy(RedisServerCheck.NO_EVICTION);
    await()
        .atMost(LONG)
        .until(() -> !watch.mayEvict(() -> redis.call(RedisServerCheck::evictionPolicy)));
  }
}

package io.gameq.redis;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.servers.TestServers;
import org.junit.jupiter.api.Test;

class RedisClockTest {
  /** Of a clock that is ahead half of the time by part of a millisecond, hundreds are. */
  private static final int READINGS = 500;

  @Test
  void isNeverAheadOfRedisSoThatWhatIsDueAtOnceIsDueThereWhenItArrives() {
    try (RedisConnector connector = new RedisConnector(new RedisConfig(TestServers.redisUri()));
        RedisConnection redis = connector.open()) {
      RedisClock clock = new RedisClock();
      for (int i = 0; i < READINGS; i++) {
        clock.measure(redis);
        long here = clock.getAsLong();
        long there = RedisClock.now(redis);
        assertTrue(here <= there, here + " here, " + there + " in Redis");
      }
    }
  }
}

package io.gameq.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.servers.TestServers;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RedisClockTest {
  /** Of a clock that is ahead half of the time by part of a millisecond, hundreds are. */
  private static final int READINGS = 500;

  private static final long HOUR_MILLIS = 3_600_000;

  @Test
  void isNeverAheadOfRedisSoThatWhatIsDueAtOnceIsDueThereWhenItArrives() {
    try (RedisConnector connector = new RedisConnector(new RedisConfig(TestServers.redisUri()));
        RedisConnection redis = connector.open()) {
      RedisClock clock = new RedisClock();
      for (int i = 0; i < READINGS; i++) {
        long unused = clock.measure(redis);
        long here = clock.getAsLong();
        long there = RedisClock.now(redis);
        assertTrue(here <= there, here + " here, " + there + " in Redis");
      }
    }
  }

  @Test
  void followsRedisClockWhenThatIsSetAndIsTakenInByNoSlowAnswer() {
    try (RedisConnector connector = new RedisConnector(new RedisConfig(TestServers.redisUri()));
        RedisConnection redis = connector.open()) {
      RedisClock clock = new RedisClock();
      assertEquals(0, clock.measure(redis), "nothing is known of before");
      long now = RedisClock.now(redis);
      clock.saw(now + 500, System.nanoTime());
      assertTrue(clock.getAsLong() < now + 400, "an answer that was a little late tells nothing");
      clock.saw(now + HOUR_MILLIS, System.nanoTime() - TimeUnit.SECONDS.toNanos(5));
      assertTrue(clock.getAsLong() < now + HOUR_MILLIS / 2, "nor one that took long");
      clock.saw(now + HOUR_MILLIS, System.nanoTime());
      assertTrue(clock.getAsLong() >= now + HOUR_MILLIS, "it is an hour ahead");
      long back = clock.measure(redis);
      assertTrue(back > HOUR_MILLIS - 60_000 && back <= HOUR_MILLIS, "went back by " + back);
      assertEquals(0, clock.measure(redis), "told once");
      assertTrue(clock.latestMillis() >= now + HOUR_MILLIS, "it remembers the one ahead");
      assertTrue(clock.getAsLong() < now + HOUR_MILLIS / 2, "and goes by the one there is");
    }
  }
}

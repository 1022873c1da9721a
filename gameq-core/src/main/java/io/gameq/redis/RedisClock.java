package io.gameq.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Redis TIME as seen from this host: time passed here plus an offset that is measured now and then.
 * Thread-safe.
 *
 * <p>Time passed is that of the monotonic clock: when somebody sets the host's clock an hour ahead,
 * commits must not become due, nor rows get versions, an hour too late.
 */
public final class RedisClock implements LongSupplier {
  private volatile long offsetMillis;

  /** Measures the offset anew. */
  public void measure(ControlConnection control) {
    control.call(
        redis -> {
          measure(redis);
          return true;
        });
  }

  /** Half the round trip is taken off. */
  public void measure(RedisConnection redis) {
    long before = passedMillis();
    long redisMillis = now(redis);
    long after = passedMillis();
    offsetMillis = redisMillis - (before + after) / 2;
  }

  /** Redis TIME now, in ms since 1970; meaningless before it was measured. */
  @Override
  public long getAsLong() {
    return passedMillis() + offsetMillis;
  }

  /** Asks for Redis TIME, ms. Throws RedisUnavailableException when Redis does not answer. */
  public static long now(RedisConnection redis) {
    List<byte[]> time = RedisReply.await(() -> redis.sync().time());
    return number(time.get(0)) * 1000 + number(time.get(1)) / 1000;
  }

  private static long passedMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  private static long number(byte[] ascii) {
    return Long.parseLong(new String(ascii, StandardCharsets.US_ASCII));
  }
}

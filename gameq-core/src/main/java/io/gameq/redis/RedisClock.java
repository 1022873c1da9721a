package io.gameq.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Redis TIME as seen from this host: the host's clock plus an offset that is measured now and then.
 * Thread-safe.
 */
public final class RedisClock implements LongSupplier {
  private final LongSupplier hostMillis;
  private volatile long offsetMillis;

  /** Starts without an offset; {@code hostMillis} is Unix time in ms. */
  public RedisClock(LongSupplier hostMillis) {
    this.hostMillis = hostMillis;
  }

  /** Measures the offset anew. */
  public void measure(ControlConnection control) {
    control.call(
        redis -> {
          measure(redis);
          return true;
        });
  }

  /** Half the round trip is taken off. */
  void measure(StatefulRedisConnection<byte[], byte[]> redis) {
    long before = hostMillis.getAsLong();
    List<byte[]> time = RedisReply.await(() -> redis.sync().time());
    long after = hostMillis.getAsLong();
    long redisMillis = number(time.get(0)) * 1000 + number(time.get(1)) / 1000;
    offsetMillis = redisMillis - (before + after) / 2;
  }

  /** Redis TIME now, in ms since 1970. */
  @Override
  public long getAsLong() {
    return hostMillis.getAsLong() + offsetMillis;
  }

  private static long number(byte[] ascii) {
    return Long.parseLong(new String(ascii, StandardCharsets.US_ASCII));
  }
}

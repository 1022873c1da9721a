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
 *
 * <p>When it is measured it is behind Redis by up to the round trip, and not ahead: what is due at
 * once by this clock is due in Redis when it arrives there. Until it is measured again the clocks
 * of the two hosts may drift apart, as a rule by less than a round trip. When somebody sets the
 * clock of Redis, or another server takes over, the next sign of life tells: {@link #saw}.
 */
public final class RedisClock implements LongSupplier {
  /** A longer round trip is measured again: one of the two was held up. */
  private static final long LONG_MICROS = 5_000;

  private static final int MOST_TRIPS = 3;

  /** Clocks that drift do not come so far between two looks: somebody set one of them. */
  private static final long JUMP_MILLIS = 1_000;

  private volatile long offsetMicros;
  private volatile boolean isMeasured;

  /** The greatest so far; changed by one thread at a time. */
  private long greatestMicros = Long.MIN_VALUE;

  /** Measures the offset anew. */
  public void measure(ControlConnection control) {
    long unused = control.call(redis -> measure(redis));
  }

  /** Measures the offset anew; returns by how much Redis' clock was set back since, ms; or 0. */
  public long measure(RedisConnection redis) {
    long shortest = Long.MAX_VALUE;
    long offset = 0;
    for (int i = 0; i < MOST_TRIPS && shortest > LONG_MICROS; i++) {
      long before = passedMicros();
      long redisMicros = nowMicros(redis);
      long after = passedMicros();
      if (after - before < shortest) {
        shortest = after - before;
        offset = redisMicros - after;
      }
    }
    long back = isMeasured ? TimeUnit.MICROSECONDS.toMillis(offsetMicros - offset) : 0;
    set(offset);
    isMeasured = true;
    return back > JUMP_MILLIS ? back : 0;
  }

  /**
   * Redis told of its time, in an answer to a question that was asked for something else. Counts
   * when its clock was set since it was measured.
   *
   * @param redisMillis Redis TIME, ms
   * @param askedNanos when it was asked, by System.nanoTime
   */
  public void saw(long redisMillis, long askedNanos) {
    long passed = passedMicros();
    boolean isPrompt = System.nanoTime() - askedNanos < TimeUnit.MILLISECONDS.toNanos(JUMP_MILLIS);
    long offset = TimeUnit.MILLISECONDS.toMicros(redisMillis) - passed;
    long jumped = TimeUnit.MICROSECONDS.toMillis(Math.abs(offset - offsetMicros));
    if (isPrompt && isMeasured && jumped > 2 * JUMP_MILLIS) { // more than a slow answer explains
      set(offset);
    }
  }

  private synchronized void set(long offset) {
    offsetMicros = offset;
    greatestMicros = Math.max(greatestMicros, offset);
  }

  /**
   * What Redis' clock would show if it had never gone back, ms: no server that it had before, whose
   * clock was ahead of this one's, told a later time. 0 before it was measured.
   */
  public synchronized long latestMillis() {
    return isMeasured ? TimeUnit.MICROSECONDS.toMillis(passedMicros() + greatestMicros) : 0;
  }

  /** Redis TIME now, in ms since 1970; meaningless before it was measured. */
  @Override
  public long getAsLong() {
    return TimeUnit.MICROSECONDS.toMillis(passedMicros() + offsetMicros);
  }

  /** Asks for Redis TIME, ms. Throws RedisUnavailableException when Redis does not answer. */
  public static long now(RedisConnection redis) {
    return TimeUnit.MICROSECONDS.toMillis(nowMicros(redis));
  }

  private static long nowMicros(RedisConnection redis) {
    List<byte[]> time = RedisReply.await(() -> redis.sync().time());
    return number(time.get(0)) * 1_000_000 + number(time.get(1));
  }

  private static long passedMicros() {
    return TimeUnit.NANOSECONDS.toMicros(System.nanoTime());
  }

  private static long number(byte[] ascii) {
    return Long.parseLong(new String(ascii, StandardCharsets.US_ASCII));
  }
}

package io.gameq.upkeep;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.log.RepeatedWarnings;
import io.gameq.owner.SessionRef;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells Redis of sessions that were closed, or whose open failed, so that their owners do not look
 * taken. Thread-safe.
 *
 * <p>While Redis does not answer they wait here; a process that is killed meanwhile tells nobody,
 * and its owners look taken until its sign of life has expired.
 */
public final class ClosedSessionNotices {
  /** Longer than a replica that may be promoted lags behind. */
  private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(2);

  private static final Logger LOG = LoggerFactory.getLogger(ClosedSessionNotices.class);

  private final Predicate<SessionRef> tell;
  private final RepeatedWarnings complaints = new RepeatedWarnings(60);
  private final Map<SessionRef, BooleanSupplier> untold = new ConcurrentHashMap<>();
  private final Map<SessionRef, Long> lateUntilNanos = new ConcurrentHashMap<>();
  private final Map<SessionRef, Long> toldNanos = new ConcurrentHashMap<>();

  /**
   * With a way to tell.
   *
   * @param tell false when another session owns as far as Redis knows; throws {@link
   *     RedisUnavailableException} when Redis does not answer
   */
  public ClosedSessionNotices(Predicate<SessionRef> tell) {
    this.tell = tell;
  }

  /** It is to be told of a session once Redis has all of its commits. */
  public void add(SessionRef session, BooleanSupplier isQueued) {
    untold.put(session, isQueued);
  }

  /**
   * The same of a session whose open failed: Redis may yet learn of it, by a request that is late
   * or by a writer, so it is told for some time.
   */
  public void addFailed(SessionRef session) {
    lateUntilNanos.put(session, System.nanoTime() + KEPT_NANOS);
    add(session, () -> true);
  }

  /** Redis may have forgotten what it was told lately. */
  void tellAgain() {
    toldNanos.keySet().forEach(session -> untold.put(session, () -> true));
  }

  /** Tells it of those that it was not told of; to be called every second or so. */
  public void tell() {
    long now = System.nanoTime();
    toldNanos.values().removeIf(told -> now - told > KEPT_NANOS);
    lateUntilNanos.values().removeIf(until -> now - until > 0);
    for (Map.Entry<SessionRef, BooleanSupplier> one : untold.entrySet()) {
      if (one.getValue().getAsBoolean() && !tell(one.getKey())) {
        return;
      }
    }
  }

  /** Tells it of one that it was not told of; false when Redis does not answer. */
  public boolean tell(SessionRef session) {
    try {
      if (!tell.test(session) && lateUntilNanos.containsKey(session)) {
        return true;
      }
    } catch (RedisUnavailableException e) {
      LOG.debug("Redis is not told yet that session {} is closed: {}", session, e.getMessage());
      return false;
    } catch (GameQueueException e) { // its keys are broken, or this is no primary just now
      complaints.about(
          "untold",
          LOG::warn,
          () ->
              "cannot tell Redis that session %s is closed: %s".formatted(session, e.getMessage()));
      return true;
    }
    untold.remove(session);
    toldNanos.put(session, System.nanoTime());
    return true;
  }
}

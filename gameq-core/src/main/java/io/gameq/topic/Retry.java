package io.gameq.topic;

import io.gameq.GameQueueException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * When a message whose handler failed is tried again, and how often until it is a dead letter.
 * Immutable.
 *
 * @param delays after the first failure, the second, and so on; the last one goes on
 * @param jitter whether each delay is drawn from its upper half, so that what failed together is
 *     not tried together
 * @param attempts in all, the first one included: 1 to {@link #MOST_ATTEMPTS}
 */
public record Retry(List<Duration> delays, boolean jitter, int attempts) {
  /** Most attempts that a message has, leases that ran out included. */
  public static final int MOST_ATTEMPTS = 16;

  private static final Duration LONGEST = Duration.ofDays(366); // DEFAULT is checked against it

  /** From 1 s, doubled each time, to 5 min, with jitter; 16 attempts: about 40 minutes. */
  public static final Retry DEFAULT =
      exponential(Duration.ofSeconds(1), Duration.ofMinutes(5)).attempts(MOST_ATTEMPTS);

  /** Throws GameQueueException when a value is out of range. */
  public Retry {
    delays = List.copyOf(delays);
    if (delays.isEmpty() || delays.size() > MOST_ATTEMPTS) {
      throw new GameQueueException(
          "a retry has 1 to %s delays: %s".formatted(MOST_ATTEMPTS, delays.size()));
    }
    for (Duration delay : delays) {
      if (delay.isNegative() || delay.compareTo(LONGEST) > 0) {
        throw new GameQueueException("a delay of a retry is from 0 to a year: " + delay);
      }
    }
    if (attempts < 1 || attempts > MOST_ATTEMPTS) {
      throw new GameQueueException(
          "attempts of a retry must be from 1 to %s: %s".formatted(MOST_ATTEMPTS, attempts));
    }
  }

  /** The same delay each time. */
  public static Retry fixed(Duration delay) {
    return new Retry(List.of(delay), false, MOST_ATTEMPTS);
  }

  /** Doubled each time, from the first delay (1 ms at least) to the longest, with jitter. */
  public static Retry exponential(Duration first, Duration longest) {
    if (first.toMillis() < 1) {
      throw new GameQueueException("the first delay of a retry is 1 ms at least: " + first);
    }
    List<Duration> delays = new ArrayList<>();
    Duration next = first;
    while (next.compareTo(longest) < 0 && delays.size() < MOST_ATTEMPTS - 1) {
      delays.add(next);
      next = next.multipliedBy(2);
    }
    delays.add(next.compareTo(longest) < 0 ? next : longest);
    return new Retry(delays, true, MOST_ATTEMPTS);
  }

  /** These delays, one after another, and then a dead letter. */
  public static Retry after(Duration... delays) {
    return new Retry(
        Arrays.asList(delays), false, Math.min(MOST_ATTEMPTS, Math.max(1, delays.length + 1)));
  }

  /** With so many attempts in all: 1 to 16. */
  public Retry attempts(int most) {
    return new Retry(delays, jitter, most);
  }
}

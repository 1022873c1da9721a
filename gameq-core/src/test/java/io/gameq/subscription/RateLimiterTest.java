package io.gameq.subscription;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.subscription.TopicSubscription.RateLimiter;
import org.junit.jupiter.api.Test;

/** How much a subscription takes on. */
class RateLimiterTest {
  @Test
  void fewerHandlersRunWhereTheyFailAndAllAgainWhereTheyDoNot() {
    RateLimiter pace = new RateLimiter(32, 0);
    assertEquals(32, pace.handlers());
    for (int i = 0; i < 20; i++) {
      pace.failed();
    }
    assertEquals(1, pace.handlers(), "never none: somebody has to find out that it works again");
    for (int i = 0; i < 100; i++) {
      pace.succeeded();
    }
    assertTrue(pace.handlers() > 10, "it was " + pace.handlers());
    for (int i = 0; i < 1_000; i++) {
      pace.succeeded();
    }
    assertEquals(32, pace.handlers());
  }

  @Test
  void whatAnOutageGivesBackWaitsAsLongAsItLastsAlreadyUntilSomethingSucceeds() {
    RateLimiter pace = new RateLimiter(32, 0);
    long first = pace.outage();
    long beganNanos = System.nanoTime();
    await().until(() -> System.nanoTime() - beganNanos > 50_000_000);
    assertTrue(pace.outage() >= first + 50, "it lasts for 50 ms");
    assertTrue(pace.handlers() < 32, "fewer handlers look whether it is over");
    pace.succeeded();
    assertTrue(pace.outage() < 50, "another one");
  }

  @Test
  void noMoreMessagesThanTheRateAllows() {
    RateLimiter pace = new RateLimiter(1, 100);
    int burst = pace.messages();
    assertEquals(10, burst, "a tenth of a second's");
    pace.took(burst);
    assertTrue(pace.messages() <= 1);
    pace.took(5);
    assertTrue(pace.waitNanos() > 1_000_000, "it was " + pace.waitNanos());
  }
}

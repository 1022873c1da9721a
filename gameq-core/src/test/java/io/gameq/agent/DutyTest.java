package io.gameq.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DutyTest {
  private long millis;
  private int done;
  private long takesMillis;

  private final Duty duty =
      Duty.every(
          Duration.ofSeconds(1),
          "count",
          () -> {
            done++;
            millis += takesMillis;
            if (done == 2) {
              throw new IllegalStateException("the second time");
            }
          },
          () -> TimeUnit.MILLISECONDS.toNanos(millis));

  private int at(long atMillis) {
    millis = atMillis;
    return duty.doWork();
  }

  private long idleMillis() {
    return TimeUnit.NANOSECONDS.toMillis(duty.idleNanos());
  }

  @Test
  void isDoneAfterEachIntervalAndSaysHowLongToRest() {
    assertEquals(0, at(0));
    assertEquals(0, at(900));
    assertEquals(100, idleMillis());
    assertEquals(1, at(1_000));
    assertEquals(0, at(1_001));
    assertEquals(999, idleMillis());
    assertEquals(1, done);
  }

  @Test
  void isDoneALittleEarlyWithTheDutiesBeforeIt() {
    assertEquals(0, at(937));
    assertEquals(1, at(938));
  }

  @Test
  void restsAfterItsEndHoweverLongItTook() {
    takesMillis = 5_000;
    assertEquals(1, at(1_000));
    assertEquals(1_000, idleMillis());
  }

  @Test
  void restsAfterAFailureAsEver() {
    assertEquals(1, at(1_000));
    assertThrows(IllegalStateException.class, () -> at(2_000));
    assertEquals(1_000, idleMillis());
    assertEquals(1, at(3_000));
  }
}

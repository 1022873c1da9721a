package io.gameq.subscription;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.topic.Publish;
import io.gameq.topic.Publish.Missed;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When recurring messages occur. */
class ScheduleTest {
  private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
  private static final long NOON = millis("2026-01-01T12:00:00Z");
  private static final long HOUR = Duration.ofHours(1).toMillis();
  private static final long LEASE = 30_000;

  private static long millis(String instant) {
    return Instant.parse(instant).toEpochMilli();
  }

  private static Publish<String> message() {
    return Publish.of("key", "payload");
  }

  private static Schedule.Begun begin(Publish<String> of, long from, long now) {
    Publish.Recurrence recurrence = of.recurrence();
    if (recurrence == null) {
      throw new AssertionError(of);
    }
    return Schedule.begin(recurrence, from, now);
  }

  /** All occurrences that are handled in time. */
  private static List<String> occurrences(Publish<String> of, String now) {
    Schedule.Begun begun = begin(of, -1, millis(now));
    List<String> all = new ArrayList<>();
    for (long at = begun.firstMillis();
        at != 0 && all.size() < 10;
        at = Schedule.parse(begun.schedule().text()).next(at, at + 5, LEASE)) {
      all.add(Instant.ofEpochMilli(at).toString());
    }
    return all;
  }

  @Test
  void anIntervalBeginsAfterOneOfItOrWhereItIsToldTo() {
    Publish<String> hourly = message().every(Duration.ofHours(1));
    assertEquals(NOON + HOUR, begin(hourly, -1, NOON).firstMillis());
    assertEquals(NOON + 1, begin(hourly, NOON + 1, NOON).firstMillis());
    assertEquals(NOON, begin(hourly, NOON - 7 * HOUR, NOON).firstMillis());
    assertEquals(NOON + HOUR - 5, begin(hourly, NOON - 5, NOON).firstMillis(), "the past aligns");
  }

  @Test
  void countAndUntilEndIt() {
    assertEquals(
        List.of("2026-01-01T13:00:00Z", "2026-01-01T14:00:00Z"),
        occurrences(message().every(Duration.ofHours(1)).count(2), "2026-01-01T12:00:00Z"));
    assertEquals(
        List.of("2026-01-01T13:00:00Z"),
        occurrences(
            message().every(Duration.ofHours(1)).until(Instant.parse("2026-01-01T13:59:59Z")),
            "2026-01-01T12:00:00Z"));
    assertEquals(
        List.of("2026-01-05T03:00:00Z", "2026-01-12T03:00:00Z", "2026-01-19T03:00:00Z"),
        occurrences(message().cron("0 4 * * MON", BERLIN).count(3), "2026-01-01T12:00:00Z"));
    GameQueueException none =
        assertThrows(
            GameQueueException.class,
            () ->
                begin(
                    message().every(Duration.ofHours(1)).until(Instant.ofEpochMilli(NOON)),
                    -1,
                    NOON));
    assertTrue(none.getMessage().contains("no occurrence"), none.getMessage());
  }

  @Test
  void cronFollowsTheClocksOfItsZone() {
    Publish<String> nightly = message().cron("30 2 * * *", BERLIN);
    assertEquals(
        List.of("2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z", "2026-03-31T00:30:00Z"),
        occurrences(nightly, "2026-03-27T12:00:00Z").subList(0, 3),
        "02:30 is left out on the 29th");
    assertEquals(
        List.of("2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"),
        occurrences(nightly, "2026-10-23T12:00:00Z").subList(0, 3),
        "02:30 is twice on the 25th");
  }

  @Test
  void whatWasMissedIsRunOnceOrLeftOutOrRunOneByOne() {
    long taken = NOON + 5 * HOUR + 10;
    for (Missed policy : Missed.values()) {
      Schedule hourly =
          begin(message().every(Duration.ofHours(1)).missed(policy), NOON, NOON).schedule();
      assertEquals(policy == Missed.SKIP, hourly.leavesOut(NOON, taken, LEASE), policy.name());
      assertFalse(hourly.leavesOut(NOON, NOON + LEASE, LEASE), "late by no more than a lease");
      assertEquals(
          switch (policy) {
            case ONCE -> NOON + 6 * HOUR;
            case SKIP -> NOON + 5 * HOUR;
            case ALL -> NOON + HOUR;
          },
          hourly.next(NOON, taken, LEASE),
          policy.name());
      assertEquals(NOON + HOUR, hourly.next(NOON, NOON + 10, LEASE), "in time");
    }
  }

  @Test
  void namesWhatIsWrongWithACronExpression() {
    GameQueueException error =
        assertThrows(
            GameQueueException.class, () -> begin(message().cron("0 25 * * *", BERLIN), -1, NOON));
    assertTrue(error.getMessage().contains("'0 25 * * *'"), error.getMessage());
    assertThrows(GameQueueException.class, () -> Schedule.parse("every soon 0 ONCE"));
    assertThrows(GameQueueException.class, () -> message().count(3));
  }
}

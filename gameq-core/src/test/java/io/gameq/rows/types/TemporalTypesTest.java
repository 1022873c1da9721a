package io.gameq.rows.types;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.RowRefusedException;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.Table;
import io.gameq.rows.TableBuilder;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class TemporalTypesTest {
  private static final Duration LAST_TIME = Duration.ofHours(838).plusMinutes(59).plusSeconds(59);

  @Test
  void holdsDatesOfYears1To9999() {
    assertEquals(LocalDate.of(1, 1, 1), canonical("date", LocalDate.of(1, 1, 1)));
    assertEquals(LocalDate.of(9999, 12, 31), canonical("date", LocalDate.of(9999, 12, 31)));
    refuses("date", LocalDate.of(0, 12, 31));
    refuses("date", LocalDate.of(10000, 1, 1));
    refuses("date", LocalDateTime.of(2020, 1, 1, 0, 0));
  }

  @Test
  void cutsFractionDigitsThatTheColumnDoesNotKeep() {
    LocalDateTime second = LocalDateTime.of(1969, 12, 31, 23, 59, 59);
    LocalDateTime millis = second.plusNanos(999_000_000);
    assertEquals(millis, canonical("datetime(3)", millis));
    assertEquals(millis, canonical("datetime(3)", millis.plusNanos(999_999)));
    assertEquals(second.plusNanos(990_000_000), canonical("datetime(2)", millis));
    assertEquals(second, canonical("datetime", millis));
    assertEquals(Instant.ofEpochSecond(5), canonical("timestamp", Instant.ofEpochSecond(5, 1)));
    assertEquals(Duration.ZERO, canonical("time", Duration.ofMillis(-999)));
    assertEquals(Duration.ofMillis(-1_990), canonical("time(2)", Duration.ofMillis(-1_999)));
    assertEquals(LAST_TIME, canonical("time", LAST_TIME.plusNanos(999_999_999)));
    assertEquals(
        Duration.ofSeconds(86_399), canonical("time", LocalTime.of(23, 59, 59, 999_999_999)));
  }

  @Test
  void cutsNothingInAKeyWhereTwoRowsWouldBecomeOne() {
    Table table =
        TableBuilder.table("fight")
            .column("player_id", "int")
            .column("at", "datetime(3)")
            .column("from", "timestamp")
            .column("lasts", "time(1)")
            .key("at", "from", "lasts")
            .build();
    LocalDateTime at = LocalDateTime.of(2020, 1, 1, 0, 0, 0, 1_000_000);
    Instant from = Instant.ofEpochSecond(5);
    Duration lasts = Duration.ofMillis(-100);
    assertEquals(3, CanonicalRow.key(table, at, from, lasts).length);
    refusesKey(table, at.plusNanos(1), from, lasts);
    refusesKey(table, at, from.plusMillis(1), lasts);
    refusesKey(table, at, from, lasts.plusMillis(1));
    Map<String, Object> row =
        Map.of("player_id", 1, "at", at.plusNanos(1), "from", from, "lasts", lasts);
    assertThrows(RowRefusedException.class, () -> CanonicalRow.of(table, row, Clock.systemUTC()));
  }

  private static void refusesKey(Table table, Object... parts) {
    RowRefusedException refusal =
        assertThrows(RowRefusedException.class, () -> CanonicalRow.key(table, parts));
    assertTrue(String.valueOf(refusal.getMessage()).contains("truncate it first"));
  }

  @Test
  void holdsTimestampsOfTheEpoch() {
    Instant last = Instant.parse("2038-01-19T03:14:07.999999Z");
    assertEquals(last, canonical("timestamp(6)", last));
    assertEquals(Instant.ofEpochSecond(1), canonical("timestamp", Instant.ofEpochSecond(1)));
    refuses("timestamp", Instant.EPOCH);
    refuses("timestamp(6)", last.plusSeconds(1));
    refuses("timestamp(6)", LocalDateTime.of(2020, 1, 1, 0, 0));
    refuses("datetime(6)", last);
  }

  @Test
  void holdsTimesBeyondADay() {
    assertEquals(LAST_TIME, canonical("time", LAST_TIME));
    assertEquals(LAST_TIME.negated(), canonical("time", LAST_TIME.negated()));
    assertEquals(Duration.ofHours(13), canonical("time", LocalTime.of(13, 0)));
    refuses("time(6)", LAST_TIME.plusMillis(1));
    refuses("time(6)", LAST_TIME.plusMillis(1).negated());
    refuses("time", UUID.randomUUID());
  }

  private static Object canonical(String type, Object in) {
    return TableBuilder.canonical(type, null, in);
  }

  private static RowRefusedException refuses(String type, Object in) {
    return assertThrows(RowRefusedException.class, () -> canonical(type, in));
  }
}

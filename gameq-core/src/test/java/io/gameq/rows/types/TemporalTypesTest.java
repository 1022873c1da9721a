package io.gameq.rows.types;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.RowRefusedException;
import io.gameq.rows.TableBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class TemporalTypesTest {
  @Test
  void holdsDatesOfYears1To9999() {
    assertEquals(LocalDate.of(1, 1, 1), canonical("date", LocalDate.of(1, 1, 1)));
    assertEquals(LocalDate.of(9999, 12, 31), canonical("date", LocalDate.of(9999, 12, 31)));
    refuses("date", LocalDate.of(0, 12, 31));
    refuses("date", LocalDate.of(10000, 1, 1));
    refuses("date", LocalDateTime.of(2020, 1, 1, 0, 0));
  }

  @Test
  void refusesMoreFractionDigitsThanTheColumnKeeps() {
    LocalDateTime millis = LocalDateTime.of(2020, 1, 1, 0, 0, 0, 1_000_000);
    assertEquals(millis, canonical("datetime(3)", millis));
    RowRefusedException refusal = refuses("datetime(2)", millis);
    assertTrue(String.valueOf(refusal.getMessage()).contains("truncate"));
    refuses("datetime(6)", millis.plusNanos(1));
    refuses("datetime", millis);
    refuses("timestamp(3)", Instant.ofEpochSecond(5, 1_000));
    refuses("time", Duration.ofMillis(-1));
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
    Duration max = Duration.ofHours(838).plusMinutes(59).plusSeconds(59);
    assertEquals(max, canonical("time", max));
    assertEquals(max.negated(), canonical("time", max.negated()));
    assertEquals(Duration.ofHours(13), canonical("time", LocalTime.of(13, 0)));
    refuses("time(6)", max.plusMillis(1));
    refuses("time(6)", max.plusMillis(1).negated());
    refuses("time", UUID.randomUUID());
  }

  private static Object canonical(String type, Object in) {
    return TableBuilder.canonical(type, null, in);
  }

  private static RowRefusedException refuses(String type, Object in) {
    return assertThrows(RowRefusedException.class, () -> canonical(type, in));
  }
}

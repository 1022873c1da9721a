package io.gameq.subscription;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.subscription.OpenTopic.Payloads;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Records as payloads. */
class PayloadsTest {
  enum Colour {
    RED,
    GREEN
  }

  record Point(int x, double y) {}

  record Everything(
      boolean flag,
      byte small,
      short middle,
      int number,
      long large,
      float single,
      double exact,
      char letter,
      @Nullable String text,
      Integer boxed,
      Colour colour,
      Instant at,
      Duration length,
      UUID id,
      Point point,
      List<Point> path,
      Map<String, Long> counts) {}

  record Old(int kept, String gone) {}

  record New(int kept, int added, @Nullable String text) {}

  record Odd(Set<String> names) {}

  record Loop(@Nullable Loop next) {}

  @Test
  void everyTypeComesBack() {
    Payloads<Everything> payloads = Payloads.ofRecord(Everything.class);
    Everything all =
        new Everything(
            true,
            (byte) -1,
            (short) 300,
            -70_000,
            Long.MIN_VALUE,
            1.5f,
            Math.PI,
            'ü',
            null,
            7,
            Colour.GREEN,
            Instant.ofEpochSecond(1_800_000_000L, 123_456_789),
            Duration.ofMillis(1_234),
            new UUID(1, 2),
            new Point(1, 2),
            List.of(new Point(3, 4), new Point(5, 6)),
            Map.of("gold", 9L));
    assertEquals(all, payloads.decode().apply(payloads.encode().apply(all)));
  }

  @Test
  void componentsComeAndGoWhileNodesOfBothVersionsRun() {
    byte[] old = Payloads.ofRecord(Old.class).encode().apply(new Old(5, "x"));
    assertEquals(new New(5, 0, null), Payloads.ofRecord(New.class).decode().apply(old));
  }

  @Test
  void namesWhatCannotBePartOfAPayload() {
    GameQueueException error =
        assertThrows(GameQueueException.class, () -> Payloads.ofRecord(Odd.class));
    assertTrue(error.getMessage().contains("component names"), error.getMessage());
    assertThrows(GameQueueException.class, () -> Payloads.ofRecord(Loop.class));
    assertThrows(
        GameQueueException.class,
        () -> Payloads.ofRecord(Point.class).decode().apply(new byte[] {(byte) 0xc1}));
  }
}

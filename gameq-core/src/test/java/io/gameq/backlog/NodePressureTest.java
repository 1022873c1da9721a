package io.gameq.backlog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.Pressure;
import io.gameq.PushBackException;
import io.gameq.backlog.SharedBacklog.BacklogSummary;
import io.gameq.config.PressureLimit;
import io.gameq.config.PushBack;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class NodePressureTest {
  private static final long LONG_MILLIS = 60_000;

  private final List<Pressure> told = new ArrayList<>();
  private long nanos;

  private NodePressure pressure(PressureLimit... limits) {
    return new NodePressure(List.of(limits), LONG_MILLIS, told::add, () -> nanos);
  }

  private static BacklogSummary rows(long rows) {
    return new BacklogSummary(0, rows, 0, 0);
  }

  @Test
  void isToldOnceWhenItBeginsAndOnceWhenItEndsATenthBelow() {
    NodePressure pressure = pressure(new PressureLimit(Pressure.Of.ROWS, 100, PushBack.CALLBACK));
    pressure.saw(rows(99), 0);
    assertEquals(List.of(), told);
    pressure.saw(rows(100), 0);
    pressure.saw(rows(500), 0);
    pressure.saw(rows(90), 0);
    assertEquals(List.of(new Pressure(Pressure.Of.ROWS, PushBack.CALLBACK, 100, 100, true)), told);
    assertEquals(90, pressure.passed().get(0).value(), "it lasts");
    pressure.admit(0); // commits do not notice
    pressure.saw(rows(89), 0);
    assertEquals(2, told.size());
    assertEquals(new Pressure(Pressure.Of.ROWS, PushBack.CALLBACK, 89, 100, false), told.get(1));
    assertEquals(List.of(), pressure.passed());
  }

  @Test
  void aRefusalNamesThresholdValueAndRemedy() {
    NodePressure pressure =
        pressure(
            new PressureLimit(Pressure.Of.AGE, 60, PushBack.REFUSE),
            new PressureLimit(Pressure.Of.MEMORY, 0.8, PushBack.CALLBACK));
    pressure.saw(new BacklogSummary(93_200, 5, 90, 100), 0);
    PushBackException refused =
        assertThrows(PushBackException.class, () -> pressure.admit(Long.MAX_VALUE));
    for (String part : List.of("93.2 s", "pushBackAtAge: 60.0 s", "stay staged", "URGENT")) {
      assertTrue(String.valueOf(refused.getMessage()).contains(part), refused::getMessage);
    }
    assertEquals(Pressure.Of.AGE, refused.pressure().of());
    assertEquals(
        List.of(Pressure.Of.AGE, Pressure.Of.MEMORY), told.stream().map(Pressure::of).toList());
  }

  @Test
  void aCommitThatIsSlowedGoesOnWhenThePressureEnds() {
    NodePressure pressure = pressure(new PressureLimit(Pressure.Of.ROWS, 100, PushBack.SLOW));
    pressure.saw(rows(100), 0);
    CompletableFuture<Void> slowed =
        CompletableFuture.runAsync(() -> pressure.admit(Long.MAX_VALUE));
    assertThrows(
        java.util.concurrent.TimeoutException.class,
        () -> slowed.get(50, java.util.concurrent.TimeUnit.MILLISECONDS));
    pressure.saw(rows(1), 0);
    slowed.join();
  }

  @Test
  void aCommitIsSlowedNoLongerThanItsDeadline() {
    NodePressure pressure = pressure(new PressureLimit(Pressure.Of.ROWS, 100, PushBack.SLOW));
    pressure.saw(rows(100), 0);
    pressure.admit(nanos); // its time is up: it waits for nothing
  }

  @Test
  void whatNobodyCouldLookAtPushesNobodyBack() {
    NodePressure pressure = pressure(new PressureLimit(Pressure.Of.ROWS, 100, PushBack.REFUSE));
    pressure.saw(rows(100), 1_000);
    nanos = Duration.ofSeconds(18).toNanos();
    pressure.sawNothing();
    assertThrows(PushBackException.class, () -> pressure.admit(Long.MAX_VALUE));
    nanos = Duration.ofSeconds(19).toNanos();
    pressure.admit(Long.MAX_VALUE); // also before anybody says so
    pressure.sawNothing();
    assertEquals(List.of(true, false), told.stream().map(Pressure::isOn).toList());
  }
}

package io.gameq.writer.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.writer.service.RunCommand.Health;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class HealthTest {
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  /** The one that is 1. */
  private String state() {
    return meters.get("gameq.writer.state").gauges().stream()
        .filter(of -> of.value() == 1)
        .map(Gauge::getId)
        .map(id -> String.valueOf(id.getTag("state")))
        .reduce("", String::concat);
  }

  @Test
  void aProcessShowsWhatItIsDoingFromItsFirstSecondOn() {
    Health health = new Health();
    health.bindTo(meters);
    assertEquals("starting", state());
    health.waitsFor("MySQL at db:3306 is read-only");
    assertEquals("waiting", state());
    AtomicBoolean isPaused = new AtomicBoolean();
    List<String> problems = new ArrayList<>();
    health.runs(isPaused::get, () -> true, () -> problems);
    assertEquals("writing", state());
    problems.add("MySQL is away");
    assertEquals("not_writing", state());
    isPaused.set(true);
    assertEquals("paused", state());
    health.stops();
    assertEquals("stopping", state());
  }
}

package io.gameq.writer.door;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.TimeUnit;

/** Requests by route and status. Thread-safe. */
final class DoorMeters {
  private final MeterRegistry meters;

  DoorMeters(MeterRegistry meters) {
    this.meters = meters;
  }

  void count(DoorRoute route, int status, long beganNanos) {
    Timer.builder("gameq.door.requests")
        .description("Requests for messages over HTTP, those that wait for messages too")
        .tag("route", route.label())
        .tag("status", Integer.toString(status))
        .register(meters)
        .record(System.nanoTime() - beganNanos, TimeUnit.NANOSECONDS);
  }
}

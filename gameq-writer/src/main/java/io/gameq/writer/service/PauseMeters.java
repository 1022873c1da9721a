package io.gameq.writer.service;

import io.gameq.mysql.tables.PauseTable.Scope;
import io.gameq.writer.pause.Pauses;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Locale;
import java.util.function.Supplier;

/** What is paused, as meters, so that an alarm about old rows can tell why they wait. Immutable. */
final class PauseMeters {
  private final Supplier<Pauses> pauses;

  PauseMeters(Supplier<Pauses> pauses) {
    this.pauses = pauses;
  }

  void bindTo(MeterRegistry meters, int slots) {
    for (Scope scope : Scope.values()) {
      Gauge.builder("gameq.pauses", pauses, of -> count(of.get(), scope))
          .description("What operators paused, by scope")
          .tag("scope", scope.name().toLowerCase(Locale.ROOT))
          .register(meters);
    }
    for (int slot = 0; slot < slots; slot++) {
      int number = slot;
      Gauge.builder("gameq.slot.paused", pauses, of -> of.get().ofSlot(number) == null ? 0 : 1)
          .description("1 where nothing is claimed, since an operator paused the slot or all")
          .tag("slot", Integer.toString(slot))
          .register(meters);
    }
  }

  private static long count(Pauses pauses, Scope scope) {
    return pauses.all().stream().filter(of -> of.scope() == scope).count();
  }
}

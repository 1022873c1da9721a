package io.gameq.writer.console;

import io.gameq.backlog.Backlog;
import io.gameq.mysql.tables.PauseTable.Pause;
import io.gameq.redis.script.Waiting;
import io.gameq.writer.console.access.GuardedRoutes;
import io.gameq.writer.pause.PauseText;
import io.gameq.writer.status.SlotsLook;
import io.javalin.http.Context;
import java.util.List;

/** What waits in each slot, and which are paused. Thread-safe. */
final class SlotsPage {
  private final Console.WriterView writer;

  SlotsPage(Console.WriterView writer) {
    this.writer = writer;
  }

  /** One slot; {@code pause} is empty when it is not paused. */
  record Slot(Waiting waiting, String pause) {
    static Slot of(SlotsLook.OfSlot slot) {
      Pause pause = slot.pause();
      return new Slot(slot.waiting(), pause == null ? "" : PauseText.why(pause));
    }

    boolean tellsSomething() {
      return waiting.owners()
                  + waiting.stale()
                  + waiting.closing()
                  + waiting.healing()
                  + waiting.foreign()
              > 0
          || !pause.isEmpty();
    }
  }

  /**
   * The page.
   *
   * @param of how many slots there are; 0 before the first look
   * @param slots those with something to tell, in order
   */
  record SlotList(int of, List<Slot> slots) {}

  void addTo(GuardedRoutes routes) {
    routes.look("slots", this::slots);
  }

  private SlotList slots(Context context) {
    Backlog look = writer.backlog().get();
    return look == null
        ? new SlotList(0, List.of())
        : new SlotList(
            look.slots().size(),
            SlotsLook.of(look, writer.pauses().get()).slots().stream()
                .map(Slot::of)
                .filter(Slot::tellsSomething)
                .toList());
  }
}

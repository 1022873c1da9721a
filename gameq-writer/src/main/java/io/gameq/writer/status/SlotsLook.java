package io.gameq.writer.status;

import io.gameq.backlog.Backlog;
import io.gameq.mysql.tables.PauseTable.Pause;
import io.gameq.redis.script.Waiting;
import io.gameq.writer.pause.Pauses;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What waits in each slot, and whether it is paused; for the console, too. Immutable. */
public record SlotsLook(List<OfSlot> slots) {
  public SlotsLook {
    slots = List.copyOf(slots);
  }

  /**
   * One slot.
   *
   * @param pause why nothing of it is claimed: of the slot, or of all; null when it is not paused
   */
  public record OfSlot(Waiting waiting, @Nullable Pause pause) {
    /** Whether nobody waits in it and nobody paused it. */
    boolean isIdle() {
      return waiting.owners() == 0 && pause == null;
    }
  }

  /** Every slot, in order. */
  public static SlotsLook of(Backlog backlog, Pauses pauses) {
    return new SlotsLook(
        backlog.slots().stream()
            .map(waiting -> new OfSlot(waiting, pauses.ofSlot(waiting.slot())))
            .toList());
  }
}

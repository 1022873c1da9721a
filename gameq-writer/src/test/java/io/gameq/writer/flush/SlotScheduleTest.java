package io.gameq.writer.flush;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.redis.script.ClaimScript;
import io.gameq.writer.flush.SlotSchedule.SlotShare;
import io.gameq.writer.redis.DueSlots;
import io.gameq.writer.redis.DueSlots.EarliestTimes;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SlotScheduleTest {
  private static final int SLOTS = 4;
  private static final long[] NONE = {};
  private static final int WORKERS = 4;
  private static final int MOST_OWNERS = 100;
  private static final int MOST_ROWS = 1_000;

  /** Redis TIME, somewhere in the past. */
  private static final long EPOCH_MILLIS = 1_700_000_000_000L;

  private final Set<Integer> paused = new HashSet<>();
  private long millis;
  private final Map<Integer, SlotSchedule.Assignment> taken = new HashMap<>();
  private final FlushPace pace =
      new FlushPace(
          new ClaimScript.Bounds(MOST_OWNERS, MOST_ROWS, 1 << 20, 30_000), WORKERS, 0, this::nanos);
  private final SlotSchedule schedule =
      new SlotSchedule(SLOTS, pace, paused::contains, this::nanos);

  private long nanos() {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private SlotSchedule.@Nullable Assignment poll() {
    SlotSchedule.Assignment next = schedule.poll();
    if (next != null) {
      next.slots().forEach(slot -> taken.put(slot, next));
    }
    return next;
  }

  /** A turn of a slot ends: of the one that took it last. */
  private void giveBack(int slot, int owners, int rows, long waitMillis) {
    schedule.giveBack(
        Objects.requireNonNull(taken.get(slot)),
        slot,
        new SlotSchedule.ClaimResult(owners, rows, waitMillis));
  }

  private static long[] only(int slot, long value) {
    long[] all = new long[SLOTS];
    Arrays.fill(all, DueSlots.NEVER);
    all[slot] = value;
    return all;
  }

  /** Somebody is due in a slot so long from now. */
  private void due(int slot, long inMillis) {
    schedule.saw(
        new EarliestTimes(only(slot, EPOCH_MILLIS + millis + inMillis), NONE, NONE),
        EPOCH_MILLIS + millis);
  }

  private List<Integer> slots() {
    SlotSchedule.Assignment next = poll();
    if (next == null) {
      return List.of();
    }
    schedule.ended(next, 0); // how many turns run at a time has tests of its own
    return next.slots();
  }

  private SlotShare only(SlotSchedule.@Nullable Assignment taken) {
    assertEquals(1, Objects.requireNonNull(taken).shares().size());
    return taken.shares().get(0);
  }

  @Test
  void aPausedSlotIsLeftAloneButForLeasesThatRanOut() {
    due(1, 0);
    due(2, 0);
    paused.add(1);
    assertEquals(List.of(2), slots());
    schedule.saw(
        new EarliestTimes(only(0, DueSlots.NEVER), NONE, only(1, EPOCH_MILLIS)),
        EPOCH_MILLIS + millis);
    assertEquals(1, Objects.requireNonNull(poll()).expired());
    giveBack(1, 0, 0, 0);
    assertEquals(List.of(), slots());
    paused.clear();
    assertEquals(List.of(1), slots(), "its backlog waits for no round");
  }

  @Test
  void anIdleSlotIsTakenWhenItsOwnerIsDueAndNotBefore() {
    assertEquals(List.of(), slots(), "nothing is known yet");
    due(2, 1_000);
    millis = 999;
    assertEquals(List.of(), slots());
    millis = 1_000;
    assertEquals(List.of(2), slots());
    assertEquals(List.of(), slots(), "a worker has it");
  }

  @Test
  void aSlotThatIsDueLaterThanAnybodyCanBeIsDueNow() {
    schedule.saw(
        new EarliestTimes(only(1, EPOCH_MILLIS + Duration.ofMinutes(10).toMillis()), NONE, NONE),
        EPOCH_MILLIS);
    assertEquals(List.of(), slots(), "the longest merge window");
    schedule.saw(
        new EarliestTimes(only(0, EPOCH_MILLIS + Duration.ofHours(1).toMillis()), NONE, NONE),
        EPOCH_MILLIS);
    assertEquals(List.of(0), slots());
    schedule.saw(new EarliestTimes(only(2, Long.MAX_VALUE - 1), NONE, NONE), EPOCH_MILLIS);
    millis = 300; // the next round
    assertEquals(List.of(2), slots());
  }

  @Test
  void slotsThatAreDueAreTakenTogetherWhoeverWaitsLongestFirst() {
    due(3, 10);
    due(1, 5);
    due(0, 11);
    millis = 10;
    assertEquals(List.of(1, 3), slots());
  }

  @Test
  void whoIsDueAfterARoundBeganWaitsForTheNext() {
    millis = 300;
    due(0, 0);
    due(1, 2);
    assertEquals(List.of(0), slots());
    millis = 320;
    giveBack(0, 1, 10, 7);
    millis = 549;
    assertEquals(List.of(), slots());
    millis = 550;
    assertEquals(List.of(1, 0), slots());
  }

  @Test
  void aRoundBeginsWhenSomebodyIsDueAfterAQuietTime() {
    due(0, 0);
    assertEquals(List.of(0), slots());
    giveBack(0, 1, 10, -1);
    due(1, 700);
    millis = 699;
    assertEquals(List.of(), slots());
    millis = 700;
    assertEquals(List.of(1), slots());
  }

  @Test
  void whoWasMadeDueBeforeHisTimeWaitsForNoRound() {
    due(0, 0);
    assertEquals(List.of(0), slots());
    giveBack(0, 1, 10, 7);
    due(1, 1);
    millis = 10;
    assertEquals(List.of(), slots());
    schedule.saw(new EarliestTimes(only(0, 0), NONE, NONE), EPOCH_MILLIS + millis);
    assertEquals(List.of(0), slots());
  }

  @Test
  void aBacklogWaitsForNoRound() {
    due(0, 0);
    assertEquals(List.of(0), slots());
    giveBack(0, 1, 400, 0);
    millis = 1;
    assertEquals(List.of(0), slots());
  }

  @Test
  void aTurnTakesAsManySlotsAsFillAFlushWithSomeRoomAndTheNextWorkerTheRest() {
    flushed(0, 1, 300);
    flushed(1, 1, 300);
    flushed(2, 1, 200);
    millis = 500;
    assertEquals(List.of(0, 1), slots());
    assertEquals(List.of(2), slots());
  }

  @Test
  void manyOwnersFillAFlushAsManyRowsDo() {
    flushed(0, 30, 30);
    flushed(1, 30, 30);
    flushed(2, 20, 20);
    millis = 500;
    assertEquals(List.of(0, 1), slots());
    assertEquals(List.of(2), slots());
  }

  @Test
  void theSlotsOfATurnShareAFullFlush() {
    flushed(0, 1, 200);
    flushed(1, 20, 20);
    millis = 500;
    assertEquals(
        List.of(new SlotShare(0, 50, 500), new SlotShare(1, 50, 500)),
        Objects.requireNonNull(poll()).shares());
    giveBack(0, 1, 125, 1);
    giveBack(1, 1, 375, 1);
    millis = 1_000;
    assertEquals(
        List.of(new SlotShare(0, 31, 312), new SlotShare(1, 68, 687)),
        Objects.requireNonNull(poll()).shares());
  }

  @Test
  void aSlotWithABacklogIsSoonTakenAloneAndWhole() {
    due(0, 0);
    due(1, 0);
    assertEquals(List.of(0, 1), slots());
    giveBack(0, 1, 500, 0);
    giveBack(1, 1, 500, 0);
    assertEquals(new SlotShare(0, MOST_OWNERS, MOST_ROWS), only(poll()));
    assertEquals(new SlotShare(1, MOST_OWNERS, MOST_ROWS), only(poll()));
  }

  @Test
  void leasesThatRanOutComeFirst() {
    due(0, 0);
    schedule.saw(
        new EarliestTimes(only(0, DueSlots.NEVER), NONE, only(1, EPOCH_MILLIS)), EPOCH_MILLIS);
    SlotSchedule.Assignment next = Objects.requireNonNull(poll());
    assertEquals(1, next.expired());
    assertEquals(List.of(1), next.slots());
    assertEquals(List.of(0), slots());
    giveBack(1, 0, 0, 0);
    assertEquals(List.of(1), slots(), "whose rows are due now");
  }

  @Test
  void leasesThatRunOutLaterDoNot() {
    schedule.saw(
        new EarliestTimes(only(0, DueSlots.NEVER), NONE, only(1, EPOCH_MILLIS + 1)), EPOCH_MILLIS);
    assertNull(poll());
  }

  @Test
  void ownersWhomAWriterLeftBehindAreFound() {
    schedule.saw(new EarliestTimes(only(0, DueSlots.NEVER), only(3, 0), NONE), EPOCH_MILLIS);
    assertEquals(List.of(3), slots());
  }

  @Test
  void aSlotThatFailedIsLeftAloneWhateverIsSeenThereAndTheOthersAreNot() {
    due(0, 0);
    assertEquals(List.of(0), slots());
    schedule.pause(Objects.requireNonNull(taken.get(0)), 0, 400);
    due(0, -1);
    schedule.saw(new EarliestTimes(only(0, DueSlots.NEVER), NONE, only(0, 0)), EPOCH_MILLIS);
    due(1, 0);
    assertEquals(List.of(1), slots());
    millis = 399;
    assertEquals(List.of(), slots());
    millis = 400;
    assertEquals(List.of(0), slots());
  }

  /** Somebody is urgent in these slots. */
  private void urgent(int... of) {
    for (int slot : of) {
      schedule.saw(new EarliestTimes(only(slot, -5), NONE, NONE), EPOCH_MILLIS + millis);
    }
  }

  @Test
  void urgentOnesOfAllSlotsAreTakenTogetherBesideABacklogEverySecondTime() {
    for (int slot = 0; slot < SLOTS; slot++) {
      due(slot, 0);
    }
    assertEquals(List.of(0, 1, 2, 3), slots());
    for (int slot = 0; slot < SLOTS; slot++) {
      giveBack(slot, 1, MOST_ROWS, 0);
    }
    SlotSchedule.Assignment first = Objects.requireNonNull(poll());
    assertEquals(List.of(0), first.slots(), "a backlog");
    urgent(0, 2, 3);
    SlotSchedule.Assignment second = Objects.requireNonNull(poll());
    assertTrue(second.isUrgent());
    assertEquals(List.of(0, 2, 3), second.slots(), "also of the slot that somebody has");
    urgent(1);
    SlotSchedule.Assignment third = Objects.requireNonNull(poll());
    assertEquals(List.of(1), third.slots());
    assertFalse(third.isUrgent(), "the backlog has its turn");
    assertTrue(Objects.requireNonNull(poll()).isUrgent());
    schedule.giveBack(second, 2, new SlotSchedule.ClaimResult(1, 1, 0));
    assertFalse(Objects.requireNonNull(poll()).isUrgent());
    assertEquals(List.of(2), Objects.requireNonNull(poll()).slots(), "some were left");
  }

  @Test
  void urgentOnesPassTheLimitOfFlushesAtATime() {
    for (int i = 0; i < 20; i++) {
      pace.flushed(nanos() - TimeUnit.SECONDS.toNanos(9), 1, MOST_ROWS); // as slow as that
      millis += 10_000;
    }
    due(0, 0);
    SlotSchedule.Assignment only = Objects.requireNonNull(poll());
    due(1, 0);
    millis += 500;
    assertNull(poll(), "one at a time");
    urgent(2);
    assertEquals(List.of(2), Objects.requireNonNull(poll()).slots());
    assertEquals(25, only.shares().get(0).rows(), "a fortieth of a flush");
    schedule.ended(only, 0);
    assertEquals(List.of(1), Objects.requireNonNull(poll()).slots());
  }

  /** A slot that brought so much in its last turn, and is due again. */
  private void flushed(int slot, int owners, int rows) {
    due(slot, 0);
    assertEquals(List.of(slot), slots());
    giveBack(slot, owners, rows, 1);
  }
}

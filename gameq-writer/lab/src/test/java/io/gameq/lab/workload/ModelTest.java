package io.gameq.lab.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A benchmark that cannot find a loss proves nothing. */
class ModelTest {
  private static final long ACTIONS = 2_000;
  private static final Workload WORKLOAD =
      new Workload(new Workload.Shape(42, 200, 0.99, 20, 3, 100, 0, 2));

  /** A table that takes rows as MySQL would. */
  private final Map<Long, BenchRow> table = new HashMap<>();

  private final Model model = new Model(WORKLOAD, new long[] {ACTIONS, ACTIONS});

  private void put(BenchRow row) {
    table.put(key(row.playerId(), row.slot()), row);
  }

  private static long key(long player, int slot) {
    return player * WORKLOAD.shape().rowsPerPlayer() + slot;
  }

  private Model.Result check() {
    Model.Check check = model.check();
    table.values().forEach(check::row);
    return check.result();
  }

  /** Does every action of both threads, and some more that nobody acknowledged. */
  private void playAll(long more) {
    for (Actions actions : WORKLOAD.actions()) {
      for (long n = 0; n < ACTIONS + more; n++) {
        actions.next();
        for (int i = 0; i < actions.rows(); i++) {
          put(actions.row(i));
        }
      }
    }
  }

  /** The last action of the first thread: nothing later hides its rows. */
  private static Actions lastAction() {
    Actions actions = WORKLOAD.actions(0);
    for (long n = 0; n < ACTIONS; n++) {
      actions.next();
    }
    return actions;
  }

  /** What stood there before the last action: the action that wrote it, else no row. */
  private void takeBack(int change) {
    Actions last = lastAction();
    BenchRow before = null;
    Actions actions = WORKLOAD.actions(0);
    for (long n = 1; n < ACTIONS; n++) {
      actions.next();
      for (int i = 0; i < actions.rows(); i++) {
        if (actions.player() == last.player() && actions.slot(i) == last.slot(change)) {
          before = actions.row(i);
        }
      }
    }
    if (before == null) {
      table.remove(key(last.player(), last.slot(change)));
    } else {
      put(before);
    }
  }

  @Test
  void everythingThereIsFlawless() {
    playAll(0);
    Model.Result result = check();
    assertTrue(result.isFlawless(), result::toString);
    assertEquals(model.distinctRows(), result.rows());
  }

  @Test
  void moreThanWasAcknowledgedIsFlawlessWhileActionsAreWhole() {
    playAll(5);
    Model.Result result = check();
    assertTrue(result.isFlawless(), result::toString);
  }

  @Test
  void anActionThatNeverCameIsLostAndNotTorn() {
    playAll(0);
    for (int change = 0; change < WORKLOAD.shape().rowsPerAction(); change++) {
      takeBack(change);
    }
    Model.Result result = check();
    assertFalse(result.isFlawless());
    assertEquals(3, result.lostRows());
    assertEquals(3, result.lostChanges());
    assertEquals(0, result.tornActions());
    assertEquals(0, result.damagedRows());
  }

  @Test
  void anActionOfWhichOneRowCameIsTorn() {
    playAll(0);
    takeBack(0);
    takeBack(1);
    Model.Result result = check();
    assertEquals(2, result.lostRows());
    assertEquals(2, result.lostChanges());
    assertEquals(1, result.tornActions());
  }

  @Test
  void anUnacknowledgedActionOfWhichOneRowCameIsTorn() {
    playAll(0);
    Actions next = lastAction();
    next.next();
    put(next.row(0));
    Model.Result result = check();
    assertEquals(0, result.lostRows());
    assertEquals(1, result.tornActions());
  }

  @Test
  void aRowWhosePayloadIsAnothersIsDamaged() {
    playAll(0);
    Actions last = lastAction();
    BenchRow row = last.row(0);
    put(new BenchRow(row.playerId(), row.slot(), row.seq(), last.row(1).payload()));
    Model.Result result = check();
    assertEquals(1, result.damagedRows());
    assertEquals(0, result.lostRows());
  }

  @Test
  void aRowThatNobodyWroteIsDamaged() {
    playAll(0);
    put(new BenchRow(WORKLOAD.shape().players(), 0, 1, new byte[80]));
    assertEquals(1, check().damagedRows());
  }

  @Test
  void aDeletedRowThatIsStillThereIsLost() {
    Workload deleting = new Workload(new Workload.Shape(42, 1, 0, 1, 1, 50, 1, 1));
    Model deletedTwice = new Model(deleting, new long[] {2});
    assertTrue(deletedTwice.check().result().isFlawless());

    Model.Check check = deletedTwice.check();
    check.row(new BenchRow(0, 0, 1, Actions.payload(deleting.shape(), 0, 0, 1)));
    Model.Result result = check.result();
    assertEquals(1, result.lostRows());
    assertEquals(1, result.lostChanges());
  }
}

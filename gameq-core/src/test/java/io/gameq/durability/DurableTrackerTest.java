package io.gameq.durability;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.durability.DurableTracker.QueuedRow;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RowHeader;
import io.gameq.sign.NodeCounts;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class DurableTrackerTest {
  private final SessionRef session =
      new SessionRef(OwnerId.of("player:1"), new SessionId(1, "0123456789abcdef"), 0);
  private final DurableTracker tracker = new DurableTracker(session, new NodeCounts());

  private Commit commit(String key, long version) {
    return commit(version, part(session, key));
  }

  private Commit commit(long version, CommitPart... parts) {
    Commit commit =
        new Commit(List.of(parts)) {
          @Override
          public void queued() {}

          @Override
          public void failed(RuntimeException reason) {}
        };
    tracker.submitted(commit);
    commit.setVersion(version);
    return commit;
  }

  private static CommitPart part(SessionRef of, String key) {
    return new CommitPart(of, List.of(new ChangedRow(key, image())));
  }

  private void trade(String key, long version) {
    SessionRef other =
        new SessionRef(OwnerId.of("player:2"), new SessionId(1, "0123456789abcdef"), 0);
    Commit commit = commit(version, part(session, key), part(other, "z:1"));
    commit.setSequence(version);
    tracker.queued(commit);
  }

  private static EncodedRow row(String key, long version) {
    byte[] image = image();
    RowHeader.setVersion(image, version);
    return new EncodedRow(key, image);
  }

  private static byte[] image() {
    return "0000000000000000p".getBytes(US_ASCII);
  }

  private CompletableFuture<Void> queued(Commit commit) {
    return tracker.whenDurable(tracker.queued(commit));
  }

  @Test
  void aCommitIsDurableOnceANoticeReachedItsVersion() {
    CompletableFuture<Void> first = queued(commit("a:1", 10));
    CompletableFuture<Void> second = queued(commit("b:1", 20));
    tracker.durable(15, Map.of(), Map.of());
    assertTrue(first.isDone());
    assertFalse(second.isDone());
    assertEquals(Set.of("b:1"), tracker.notDurable());
    tracker.durable(20, Map.of(), Map.of());
    assertTrue(second.isDone());
    assertTrue(tracker.isDrained());
  }

  @Test
  void aNoticeSaysNothingOfACommitThatWasSentAgain() {
    Commit held = commit("a:1", 50);
    CompletableFuture<Void> later = queued(commit("b:1", 60));
    held.setSentAgain();
    CompletableFuture<Void> again = queued(held);
    tracker.durable(60, Map.of(), Map.of()); // of a claim that did not hold a:1
    assertTrue(later.isDone());
    assertFalse(again.isDone());
    assertEquals(Set.of("a:1"), tracker.withoutNews(0));
    tracker.found(Map.of("a:1", 49L), Map.of());
    assertFalse(again.isDone());
    tracker.found(Map.of("a:1", 50L), Map.of());
    assertTrue(again.isDone());
    assertTrue(tracker.isDrained());
  }

  @Test
  void aFutureAskedForAfterAnotherCommitWasSentAgainStillCompletes() {
    Commit held = commit("a:1", 50);
    DurableFutures.Share later = tracker.queued(commit("b:1", 60));
    tracker.durable(60, Map.of(), Map.of());
    held.setSentAgain();
    tracker.queued(held);
    assertTrue(tracker.whenDurable(later).isDone());
  }

  @Test
  void whatWasAdoptedBelowWhatIsBeingFlushedIsLookedFor() {
    tracker.adopted(
        List.of(row("a:1", 5), row("b:1", 9)), List.of(row("c:1", 7)), List.of(1L, 1L, 1L));
    tracker.durable(7, Map.of(), Map.of());
    assertEquals(Set.of("a:1", "b:1"), tracker.notDurable());
    tracker.durable(9, Map.of(), Map.of());
    assertEquals(Set.of("a:1"), tracker.notDurable());
    tracker.found(Map.of("a:1", 5L), Map.of());
    assertTrue(tracker.isDrained());
  }

  @Test
  void onlyTheCommitOfARowThatIsKeptWaits() {
    CompletableFuture<Void> kept = queued(commit("a:1", 10));
    CompletableFuture<Void> other = queued(commit("b:1", 20));
    tracker.durable(20, Map.of(), Map.of("a:1", 10L));
    assertTrue(other.isDone());
    assertFalse(kept.isDone());
    assertEquals(Set.of("a:1"), tracker.notDurable());
    tracker.durable(30, Map.of(), Map.of());
    assertTrue(kept.isDone());
    assertTrue(tracker.isDrained());
  }

  @Test
  void whatARowWasBeforeATradeIsOwedWithItUntilItIsDurable() {
    Commit put = commit("a:1", 10);
    put.setSequence(10);
    CompletableFuture<Void> durable = queued(put);
    trade("a:1", 20);
    assertEquals(List.of(10L, 20L), beyond(5));
    tracker.doubt(20, List.of("a:1")); // it may not be replayed
    tracker.durable(30, Map.of(), Map.of());
    assertFalse(durable.isDone());
    tracker.gaveUp(Set.of(20L));
    assertEquals(List.of(10L), beyond(5));
    tracker.found(Map.of("a:1", 10L), Map.of());
    assertTrue(durable.isDone());
    assertEquals(Map.of("a:1", 20L), tracker.givenUp(0));
  }

  @Test
  void aRowThatIsTradedOverAndOverTakesLittleRoom() {
    for (int version = 1; version <= 1_000; version++) {
      trade("a:1", version);
      assertTrue(beyond(0).size() <= 18);
      assertTrue(version == 1 || beyond(0).contains(version - 1L));
    }
    tracker.durable(1_000, Map.of(), Map.of());
    assertEquals(List.of(), beyond(0));
  }

  private List<Long> beyond(long mark) {
    TreeSet<Long> sequences = new TreeSet<>();
    tracker.beyond(mark, sequences::add);
    return List.copyOf(sequences);
  }

  @Test
  void howeverManyRowsAreSetAsideEachCommitIsTold() {
    CompletableFuture<Void> first = queued(commit("a:1", 1));
    Map<String, Long> refused = new HashMap<>();
    for (long i = 1; i <= 3_000; i++) {
      refused.put("a:" + i, i);
    }
    tracker.durable(3_000, refused, Map.of());
    assertTrue(first.isCompletedExceptionally());
    assertTrue(tracker.isDrained());
  }

  @Test
  void roomIsCountedByDistinctRows() throws InterruptedException {
    List<ChangedRow> old = List.of(new ChangedRow("a:1", image()));
    List<ChangedRow> fresh = List.of(new ChangedRow("c:1", image()));
    Commit first = commit("a:1", 1);
    tracker.queued(first);
    tracker.queued(commit("b:1", 2));
    assertTrue(tracker.awaitRoom(old, 2, 1 << 20, System.nanoTime()));
    assertFalse(tracker.awaitRoom(fresh, 2, 1 << 20, System.nanoTime()));
    tracker.durable(1, Map.of(), Map.of());
    assertTrue(tracker.awaitRoom(fresh, 2, 1 << 20, System.nanoTime()));
  }

  @Test
  void ofARowThatIsTradedOverAndOverTheLastTradesAreKept() {
    QueuedRow row = new QueuedRow(0, 0, 100, false, null, true);
    for (int version = 1; version <= 1_000; version++) {
      row = new QueuedRow(version, version, 100, false, null, true).after(row);
      int before = 0;
      for (QueuedRow old = row.before(); old != null; old = old.before()) {
        before++;
        assertEquals(version - before, old.version());
      }
      assertTrue(before >= 1 && before <= 16, before + " before version " + version);
    }
  }
}

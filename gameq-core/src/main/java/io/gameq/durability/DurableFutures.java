package io.gameq.durability;

import io.gameq.Conflict;
import io.gameq.ConflictException;
import io.gameq.DeadLetterException;
import io.gameq.GameQueueException;
import io.gameq.durability.GoneRows.Gone;
import io.gameq.owner.SessionRef;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * The futures of one session's commits that wait for MySQL, and the rows that never get there. Used
 * under its {@link DurableTracker}'s lock; what a method returns is to be run outside it, since the
 * game hangs its own code on futures.
 */
final class DurableFutures {
  private final SessionRef session;
  private final List<Waiter> waiters = new ArrayList<>();
  private final GoneRows setAside = new GoneRows();
  private final GoneRows conflicts = new GoneRows();
  private boolean closed;

  /**
   * What a commit changed of this session's rows, once it is in Redis.
   *
   * @param lowest version that it gave out: two when rows move, else one
   */
  public record Share(long lowest, long highest, List<String> keys) {
    /** Also a commit whose row a later one replaced before it was refused never got there. */
    boolean isHitBy(String key, long version) {
      return lowest <= version && keys.contains(key);
    }

    private List<String> hitBy(Map<String, Long> gone, boolean alsoBefore) {
      return gone.entrySet().stream()
          .filter(row -> isHitBy(row.getKey(), row.getValue()))
          .filter(row -> alsoBefore || highest >= row.getValue())
          .map(Map.Entry::getKey)
          .sorted()
          .toList();
    }
  }

  private record Waiter(Share share, CompletableFuture<Void> durable) {}

  DurableFutures(SessionRef session) {
    this.session = session;
  }

  /** A future that completes when everything of this share, which is queued, is in MySQL. */
  CompletableFuture<Void> of(Share share, boolean isDurable) {
    CompletableFuture<Void> durable = new CompletableFuture<>();
    SortedMap<String, Long> lost = conflicts.of(share);
    SortedMap<String, Long> refused = setAside.of(share);
    if (!lost.isEmpty()) {
      Gone first = conflicts.get(lost.firstKey());
      durable.completeExceptionally(
          new ConflictException(conflict(lost, first.reason(), first.mayComeBack())));
    } else if (!refused.isEmpty()) {
      durable.completeExceptionally(new DeadLetterException(List.copyOf(refused.keySet())));
    } else if (isDurable) {
      durable.complete(null);
    } else if (closed) {
      durable.completeExceptionally(isOpen());
    } else {
      waiters.add(new Waiter(share, durable));
    }
    return durable;
  }

  private GameQueueException isOpen() {
    return new GameQueueException(
        ("the node was closed before MySQL was known to have all of session %s: the"
                + " outcome is open, and the WAL is kept")
            .formatted(session));
  }

  /** Nobody will tell of anything any more: ends the futures that wait. */
  List<Runnable> close() {
    closed = true;
    List<Runnable> ends = new ArrayList<>();
    waiters.forEach(waiter -> ends.add(() -> waiter.durable.completeExceptionally(isOpen())));
    waiters.clear();
    return ends;
  }

  /**
   * Ends the futures that need not wait longer.
   *
   * @param refused rows set aside, with the versions in which they were
   */
  List<Runnable> settle(Predicate<Share> isDurable, Map<String, Long> refused, long durableBefore) {
    setAside.remember(refused, version -> new Gone("", false, version, true, durableBefore));
    List<Runnable> ends = new ArrayList<>();
    for (Iterator<Waiter> it = waiters.iterator(); it.hasNext(); ) {
      Waiter waiter = it.next();
      List<String> hit = waiter.share.hitBy(refused, true);
      if (!hit.isEmpty()) {
        ends.add(() -> waiter.durable.completeExceptionally(new DeadLetterException(hit)));
        it.remove();
      } else if (isDurable.test(waiter.share)) {
        ends.add(() -> waiter.durable.complete(null));
        it.remove();
      }
    }
    return ends;
  }

  /**
   * Ends the futures of commits with rows that are lost for good.
   *
   * @param alsoBefore whether the rows are lost in older versions, too
   */
  List<Runnable> lost(Conflict conflict, boolean alsoBefore, long durableBefore) {
    conflicts.remember(
        conflict.rows(),
        version ->
            new Gone(
                conflict.reason(), conflict.mayComeBack(), version, alsoBefore, durableBefore));
    List<Runnable> ends = new ArrayList<>();
    for (Iterator<Waiter> it = waiters.iterator(); it.hasNext(); ) {
      Waiter waiter = it.next();
      if (!waiter.share.hitBy(conflict.rows(), alsoBefore).isEmpty()) {
        ends.add(() -> waiter.durable.completeExceptionally(new ConflictException(conflict)));
        it.remove();
      }
    }
    return ends;
  }

  /** Rows of this session, as the game is told that they are lost. */
  Conflict conflict(SortedMap<String, Long> rows, String reason, boolean mayComeBack) {
    return new Conflict(session.owner().id(), session.id().text(), reason, mayComeBack, rows);
  }
}

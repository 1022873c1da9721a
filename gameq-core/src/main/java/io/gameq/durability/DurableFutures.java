package io.gameq.durability;

import io.gameq.Conflict;
import io.gameq.ConflictException;
import io.gameq.DeadLetterException;
import io.gameq.GameQueueException;
import io.gameq.owner.SessionRef;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The futures of one session's commits that wait for MySQL, and the rows that never get there. Used
 * under its {@link DurableTracker}'s lock; what a method returns is to be run outside it, since the
 * game hangs its own code on futures.
 */
final class DurableFutures {
  /** Of rows that never get to MySQL, for futures that are asked for later. */
  private static final int MOST_REMEMBERED = 1_000;

  private final SessionRef session;
  private final List<Waiter> waiters = new ArrayList<>();
  private final Map<String, Failed> setAside = new LinkedHashMap<>();
  private final Map<String, Failed> conflicts = new LinkedHashMap<>();
  private boolean closed;

  /** What a commit changed of this session's rows, once it is in Redis. */
  record Share(long version, List<String> keys) {
    /** Also a commit whose row a later one replaced before it was refused never got there. */
    private boolean isHitBy(String key, long failed, boolean alsoBefore) {
      return keys.contains(key) && (alsoBefore ? version <= failed : version == failed);
    }
  }

  private record Waiter(Share share, CompletableFuture<Void> durable) {}

  /**
   * A row that did not get to MySQL.
   *
   * @param version up to which it did not
   * @param alsoBefore whether it did not in older versions either
   * @param durableBefore version up to which everything had been durable by then
   */
  private record Failed(
      String reason, boolean mayComeBack, long version, boolean alsoBefore, long durableBefore) {}

  DurableFutures(SessionRef session) {
    this.session = session;
  }

  /** A future that completes when everything of this share, which is queued, is in MySQL. */
  CompletableFuture<Void> of(Share share, boolean isDurable) {
    CompletableFuture<Void> durable = new CompletableFuture<>();
    SortedMap<String, Long> lost = hits(conflicts, share);
    SortedMap<String, Long> refused = hits(setAside, share);
    if (!lost.isEmpty()) {
      Failed first = Objects.requireNonNull(conflicts.get(lost.firstKey()));
      durable.completeExceptionally(
          new ConflictException(conflict(lost, first.reason, first.mayComeBack)));
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

  /** The rows because of which this share never gets to MySQL, with their versions. */
  private static SortedMap<String, Long> hits(Map<String, Failed> rows, Share share) {
    SortedMap<String, Long> hits = new TreeMap<>();
    rows.forEach(
        (key, failed) -> {
          if (share.version > failed.durableBefore
              && share.isHitBy(key, failed.version, failed.alsoBefore)) {
            hits.put(key, failed.version);
          }
        });
    return hits;
  }

  private static void remember(Map<String, Failed> in, String key, Failed failed) {
    in.put(key, failed);
    for (Iterator<String> it = in.keySet().iterator(); in.size() > MOST_REMEMBERED; ) {
      it.next();
      it.remove();
    }
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
    return end(share -> durable -> durable.completeExceptionally(isOpen()));
  }

  /**
   * Ends the futures that need not wait longer.
   *
   * @param refused rows set aside, with the versions in which they were
   */
  List<Runnable> settle(Predicate<Share> isDurable, Map<String, Long> refused, long durableBefore) {
    refused.forEach(
        (key, version) ->
            remember(setAside, key, new Failed("", false, version, true, durableBefore)));
    return end(
        share -> {
          List<String> hit =
              refused.entrySet().stream()
                  .filter(row -> share.isHitBy(row.getKey(), row.getValue(), true))
                  .map(Map.Entry::getKey)
                  .sorted()
                  .toList();
          if (!hit.isEmpty()) {
            return durable -> durable.completeExceptionally(new DeadLetterException(hit));
          }
          return isDurable.test(share) ? durable -> durable.complete(null) : null;
        });
  }

  /**
   * Ends the futures of commits with rows that are lost for good.
   *
   * @param alsoBefore whether the rows are lost in older versions, too
   */
  List<Runnable> lost(Conflict conflict, boolean alsoBefore, long durableBefore) {
    Map<String, Long> rows = conflict.rows();
    String reason = conflict.reason();
    rows.forEach(
        (key, version) ->
            remember(
                conflicts,
                key,
                new Failed(reason, conflict.mayComeBack(), version, alsoBefore, durableBefore)));
    return end(
        share ->
            rows.entrySet().stream()
                    .anyMatch(row -> share.isHitBy(row.getKey(), row.getValue(), alsoBefore))
                ? durable -> durable.completeExceptionally(new ConflictException(conflict))
                : null);
  }

  /** Ends the futures for which {@code how} says how; those for which it is null wait on. */
  private List<Runnable> end(Function<Share, @Nullable Consumer<CompletableFuture<Void>>> how) {
    List<Runnable> ends = new ArrayList<>();
    waiters.removeIf(
        waiter -> {
          Consumer<CompletableFuture<Void>> end = how.apply(waiter.share);
          if (end != null) {
            ends.add(() -> end.accept(waiter.durable));
          }
          return end != null;
        });
    return ends;
  }

  /** Rows of this session, as the game is told that they are lost. */
  Conflict conflict(SortedMap<String, Long> rows, String reason, boolean mayComeBack) {
    return new Conflict(session.owner().id(), session.id().text(), reason, mayComeBack, rows);
  }
}

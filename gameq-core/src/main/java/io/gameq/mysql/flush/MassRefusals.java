package io.gameq.mysql.flush;

import io.gameq.mysql.HandledTwiceException;
import io.gameq.mysql.NotOwnerException;
import io.gameq.mysql.RowChange;
import io.gameq.owner.OwnerId;
import io.gameq.rows.Table;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Tells a table of which MySQL refuses most rows, as after a wrong CHECK or a column that was
 * shrunk, from single bad rows. Thread-safe.
 */
final class MassRefusals {
  /** So many may be single bad rows, whatever share of their table's rows they are. */
  private static final int FEWEST = 100;

  /** What fewer owners do wrong is their matter alone: others' rows do not wait for it. */
  private static final int FEWEST_OWNERS = 3;

  private static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final LongSupplier nanoTime;
  private final Map<String, Count> counts = new HashMap<>();

  /** Of one table; a table that is refused is not counted afresh until its rows pass. */
  private static final class Count {
    private final long sinceNanos;
    private final Set<OwnerId> owners = new HashSet<>();
    private boolean isMass;
    private int written;
    private int refused;

    Count(long sinceNanos) {
      this.sinceNanos = sinceNanos;
    }
  }

  MassRefusals(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Of rows that were written but for those refused: a table of which most are refused. */
  synchronized @Nullable Table most(Collection<RowChange> rows, List<RowRefusal> refusals) {
    if (refusals.isEmpty() && counts.isEmpty()) {
      return null;
    }
    Map<Table, List<RowRefusal>> refused =
        refusals.stream()
            .filter(refusal -> !(refusal.error() instanceof NotOwnerException))
            .filter(refusal -> !(refusal.error() instanceof HandledTwiceException))
            .collect(Collectors.groupingBy(refusal -> refusal.row().key().table()));
    Map<Table, Long> tried =
        rows.stream()
            .collect(Collectors.groupingBy(row -> row.key().table(), Collectors.counting()));
    for (Map.Entry<Table, Long> of : tried.entrySet()) {
      List<OwnerId> ofTable =
          refused.getOrDefault(of.getKey(), List.of()).stream()
              .map(refusal -> refusal.row().owner())
              .toList();
      int written = (int) (of.getValue() - ofTable.size());
      if (isMass(of.getKey().name(), written, ofTable)) {
        return of.getKey();
      }
    }
    return null;
  }

  /**
   * Counts what a flush wrote and MySQL refused of a table; whether to refuse the table itself.
   *
   * @param refused the owner of each row that was refused
   */
  synchronized boolean isMass(String table, int written, List<OwnerId> refused) {
    long now = nanoTime.getAsLong();
    Count count = counts.get(table);
    if (count != null
        && (count.isMass ? written > refused.size() : now - count.sinceNanos >= WINDOW_NANOS)) {
      counts.remove(table);
      count = null;
    }
    if (count == null) {
      if (refused.isEmpty()) {
        return false;
      }
      count = new Count(now);
      counts.put(table, count);
    }
    count.written += written;
    count.refused += refused.size();
    if (count.owners.size() < FEWEST_OWNERS) {
      count.owners.addAll(refused);
    }
    count.isMass |=
        count.refused >= FEWEST
            && count.refused > count.written
            && count.owners.size() >= FEWEST_OWNERS;
    return count.isMass && !refused.isEmpty();
  }
}

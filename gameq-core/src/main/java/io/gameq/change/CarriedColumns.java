package io.gameq.change;

import io.gameq.rows.RowHeader;
import io.gameq.rows.RowHeader.RowOp;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a session must put again with a row although its game does not know it, since an image that
 * is not in MySQL yet says so and the next one takes that image's place: values of columns that
 * were added after the node started, and that the row was made anew after a delete. Thread-safe.
 *
 * <p>Forgotten once all of the session is in MySQL: then the columns keep their values there.
 */
public final class CarriedColumns {
  private static final Carried ANEW = new Carried(Map.of(), true);

  /** Below this it is not worth looking for what is in MySQL. */
  private static final int FEW = 1_000;

  private final Map<String, Carried> byRow = new HashMap<>();

  /** Of rows that move here with a commit that is not submitted yet. */
  private final Map<String, Carried> movingIn = new HashMap<>();

  private int pruneAt = FEW;

  /**
   * What to carry of a row.
   *
   * @param values of columns that the game does not know, by name
   * @param isAnew see {@link io.gameq.rows.RowImage#isAnew}
   */
  public record Carried(Map<String, @Nullable Object> values, boolean isAnew) {
    /** Null when there is nothing to carry. */
    public static @Nullable Carried of(
        RowOp op, Map<String, @Nullable Object> values, boolean anew) {
      if (op == RowOp.DELETE) {
        return ANEW;
      }
      return values.isEmpty() && !anew ? null : new Carried(values, anew);
    }
  }

  /** A row has something to carry; null for nothing. */
  public synchronized void add(String row, @Nullable Carried carried) {
    if (carried != null) {
      byRow.put(row, carried);
    }
  }

  synchronized @Nullable Carried of(String row) {
    return byRow.get(row);
  }

  /** What a put carries that replaces a change of the same commit. */
  public synchronized @Nullable Carried of(String row, @Nullable ChangedRow staged) {
    boolean anew =
        staged != null && (staged.op() == RowOp.DELETE || RowHeader.isAnew(staged.image()));
    return anew ? ANEW : of(row);
  }

  /** A row is being moved to this session, with what is carried of it. */
  public synchronized void movesIn(String row, @Nullable Carried carried) {
    if (carried == null) {
      movingIn.remove(row);
    } else {
      movingIn.put(row, carried);
    }
  }

  /** These rows are on their way; {@code waiting} tells which rows are not in MySQL. */
  public synchronized void submitted(Collection<ChangedRow> rows, Supplier<Set<String>> waiting) {
    for (ChangedRow row : rows) {
      if (row.movedIn()) {
        Carried carried = movingIn.remove(row.key());
        if (carried == null) {
          byRow.remove(row.key());
        } else {
          byRow.put(row.key(), carried);
        }
      } else if (row.op() == RowOp.DELETE || RowHeader.isAnew(row.image())) {
        byRow.put(row.key(), ANEW);
      }
    }
    if (byRow.size() > pruneAt) {
      byRow.keySet().retainAll(waiting.get());
      pruneAt = Math.max(FEW, 2 * byRow.size());
    }
  }

  /** These changes did not happen: a row that was to be deleted is what it was. */
  public synchronized void failed(Collection<ChangedRow> rows) {
    rows.forEach(row -> byRow.remove(row.key(), ANEW));
  }

  /** All of the session is in MySQL. */
  public synchronized void settled() {
    byRow.clear();
  }
}

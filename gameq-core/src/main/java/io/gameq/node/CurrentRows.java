package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.Row;
import io.gameq.change.ChangedRow;
import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RowImage;
import io.gameq.rows.RowKey;
import io.gameq.rows.RowOp;
import io.gameq.rows.Table;
import io.gameq.view.OwnerView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a session has committed of the tables whose current rows were asked for, and what others
 * sent to its owner. Thread-safe.
 *
 * <p>Of each row that was changed since then it keeps the newest image, and those of commits that
 * Redis has not answered; of other tables nothing but their names.
 */
final class CurrentRows {
  /** Below this it is not worth looking for rows that came and went. */
  private static final int FEW = 1_000;

  private final OwnerId owner;
  private final GameRows rows;
  private final Set<String> asked = new HashSet<>();
  private final Set<String> changedSince = new HashSet<>();
  private final Map<String, List<Committed>> committed = new HashMap<>();

  private final Map<String, EncodedRow> sent = new LinkedHashMap<>();
  private boolean isForgotten;

  private int pruneAt = FEW;

  /** Whether anything was committed before the first table was asked for: then none can be. */
  private boolean changedBefore;

  /** A change of a row, and what becomes of it. */
  private record Committed(EncodedRow row, CompletableFuture<Void> outcome) {
    boolean isHere() {
      return outcome.isDone() && !outcome.isCompletedExceptionally();
    }
  }

  CurrentRows(OwnerId owner, GameRows rows) {
    this.owner = owner;
    this.rows = rows;
  }

  /**
   * These were committed, after all that were before. Returns whether the next ones are to be told
   * as well: not where nothing was asked for before the first commit, as in nearly every session,
   * since nothing can be then.
   */
  synchronized boolean committed(
      List<ChangedRow> changed, Supplier<CompletableFuture<Void>> outcome) {
    if (asked.isEmpty()) {
      changedBefore = true;
      return false;
    }
    CompletableFuture<Void> known = outcome.get();
    for (ChangedRow row : changed) {
      String table = RowKey.tableName(row.key());
      if (asked.contains(table)) {
        List<Committed> of = committed.computeIfAbsent(row.key(), key -> new ArrayList<>(1));
        of.removeIf(before -> before.outcome.isCompletedExceptionally());
        while (of.size() > 1 && of.get(1).isHere()) {
          of.remove(0); // the first one stays: it counts when those after it fail
        }
        of.add(new Committed(row.encoded(), known));
      } else {
        changedSince.add(table);
      }
    }
    return true;
  }

  /** Others sent these rows, under new keys; some may have been told before. */
  synchronized void came(List<EncodedRow> rows) {
    if (!isForgotten) {
      rows.forEach(row -> sent.put(row.key(), row));
    }
  }

  /**
   * The rows of a table: those loaded and sent, changed by what was committed and by what is
   * staged.
   */
  synchronized List<Row> rows(OwnerView loaded, Table table, List<ChangedRow> staged) {
    ask(table);
    Map<RowKey, RowImage> images = new LinkedHashMap<>();
    loaded.rows(table).forEach(image -> images.put(image.rowKey(), image));
    sent.values().forEach(row -> change(images, table, row));
    committed.values().stream().map(CurrentRows::newest).forEach(row -> change(images, table, row));
    staged.forEach(row -> change(images, table, row.encoded()));
    return images.values().stream().map(image -> rows.tables().row(image, table)).toList();
  }

  /**
   * The commit of this row's newest change, if it has no answer yet: it may be refused by itself,
   * as a trade is, and then nothing may build on it. Null when there is none.
   */
  synchronized @Nullable CompletableFuture<Void> unanswered(RowKey key) {
    List<Committed> of = committed.get(key.text());
    if (of == null) {
      return null;
    }
    CompletableFuture<Void> last = of.get(of.size() - 1).outcome;
    return last.isDone() ? null : last;
  }

  /** One of them; null when there is none. */
  synchronized @Nullable Row row(
      OwnerView loaded, Table table, RowKey key, @Nullable ChangedRow staged) {
    ask(table);
    prune(loaded);
    EncodedRow came = sent.get(key.text());
    RowImage image = came == null ? loaded.row(table, key) : rows.decode(came);
    List<Committed> of = committed.get(key.text());
    EncodedRow last = of == null ? null : newest(of);
    if (last != null) {
      image = after(image, last);
    }
    if (staged != null) {
      image = after(image, staged.encoded());
    }
    return image == null ? null : rows.tables().row(image, table);
  }

  /** Forgets rows that came and went. */
  private void prune(OwnerView loaded) {
    if (committed.size() > pruneAt) {
      committed.values().removeIf(of -> of.size() == 1 && forgets(of.get(0), loaded));
      pruneAt = Math.max(FEW, 2 * committed.size());
    }
  }

  private boolean forgets(Committed of, OwnerView loaded) {
    Table table = rows.table(RowKey.tableName(of.row.key()));
    boolean isGone =
        of.isHere()
            && of.row.op() != RowOp.PUT
            && loaded.row(table, new RowKey(table, of.row.key())) == null;
    if (isGone) {
      sent.remove(of.row.key());
    }
    return isGone;
  }

  private void ask(Table table) {
    if (!asked.contains(table.name()) && (changedBefore || changedSince.contains(table.name()))) {
      throw new GameQueueException(
          ("the current rows of %s in table %s are not known: ask for them once before the"
                  + " session's first commit, or read them with GameQueue.read")
              .formatted(owner, table.name()));
    }
    asked.add(table.name());
  }

  /** The newest change of a row that has not failed; null when all have. */
  private static @Nullable EncodedRow newest(List<Committed> of) {
    for (int i = of.size() - 1; i >= 0; i--) {
      if (!of.get(i).outcome.isCompletedExceptionally()) {
        return of.get(i).row;
      }
    }
    return null;
  }

  private void change(Map<RowKey, RowImage> images, Table table, @Nullable EncodedRow row) {
    if (row == null || !RowKey.tableName(row.key()).equals(table.name())) {
      return;
    }
    images.compute(new RowKey(table, row.key()), (key, before) -> after(before, row));
  }

  /** What a change makes of a row; null when it is not there, or not there any more. */
  private @Nullable RowImage after(@Nullable RowImage before, EncodedRow change) {
    RowImage image = rows.decode(change);
    if (image.op() != RowOp.PUT) {
      return null;
    }
    return before == null ? image : image.over(before);
  }

  synchronized void forget() {
    committed.clear();
    sent.clear();
    isForgotten = true;
  }
}

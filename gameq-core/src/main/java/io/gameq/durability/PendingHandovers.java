package io.gameq.durability;

import io.gameq.change.ChangedRow;
import io.gameq.change.ChangedRow.RowMove;
import io.gameq.change.Commit.CommitPart;
import io.gameq.owner.SessionRef;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.RowHeader;
import io.gameq.rows.RowHeader.Handover;
import io.gameq.rows.RowHeader.RowOp;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The handovers of a session's rows, from or to another owner, that MySQL may not know of yet.
 * Thread-safe.
 *
 * <p>Every image of such a row names them, or MySQL would take it for another owner's row. A
 * session that adopts unflushed rows learns of their handovers from their images.
 */
public final class PendingHandovers {
  /** Above so many rows those that are in MySQL by now are looked for and forgotten. */
  private static final int MANY_ROWS = 1_000;

  private final DurableTracker tracker;
  private final Map<String, List<KnownHandover>> rows = new HashMap<>();

  /**
   * A handover.
   *
   * @param move the commit of this session that has its version; null when the handover has it
   */
  private record KnownHandover(Handover handover, @Nullable RowMove move) {
    long version() {
      return move == null ? handover.version() : move.version();
    }
  }

  /** Of a session, which learns from rows that it takes over; an inbox has none. */
  public PendingHandovers(DurableTracker tracker, List<EncodedRow> adopted) {
    this.tracker = tracker;
    Map<String, EncodedRow> newest = new HashMap<>();
    for (EncodedRow row : adopted) {
      newest.merge(row.key(), row, (a, b) -> b.version() > a.version() ? b : a);
    }
    newest.forEach(
        (key, row) -> {
          for (Handover handover : RowHeader.handovers(row.image())) {
            rows.computeIfAbsent(key, k -> new ArrayList<>())
                .add(new KnownHandover(handover, null));
          }
        });
  }

  /**
   * The same commit, whose rows tell of their handovers, those of this commit included.
   *
   * @param of the handed-over rows of each part's session, in the order of the parts
   * @param move stands for this commit; null when it moves no row
   */
  public static List<CommitPart> withHandovers(
      List<CommitPart> parts, List<PendingHandovers> of, @Nullable RowMove move) {
    if (move == null && areEmpty(of)) {
      return parts;
    }
    Map<String, MovedRow> givers = new HashMap<>();
    Map<String, MovedRow> takers = new HashMap<>();
    for (CommitPart part : parts) {
      for (ChangedRow row : part.rows()) {
        if (row.op() == RowOp.MOVED) {
          givers.put(row.key(), new MovedRow(part.session(), row));
        } else if (row.movedIn()) {
          takers.put(row.key(), new MovedRow(part.session(), row));
        }
      }
    }
    List<CommitPart> all = new ArrayList<>(parts.size());
    for (int i = 0; i < parts.size(); i++) {
      PendingHandovers its = of.get(i);
      all.add(
          new CommitPart(
              parts.get(i).session(),
              parts.get(i).rows().stream()
                  .map(row -> its.withHandovers(row, givers, takers, move))
                  .toList()));
    }
    return all;
  }

  private static boolean areEmpty(List<PendingHandovers> all) {
    for (PendingHandovers one : all) {
      synchronized (one) {
        if (!one.rows.isEmpty()) {
          return false;
        }
      }
    }
    return true;
  }

  private record MovedRow(SessionRef session, ChangedRow row) {
    Handover handover(boolean received) {
      return new Handover(received, session.owner(), session.id(), 0);
    }
  }

  private synchronized ChangedRow withHandovers(
      ChangedRow row,
      Map<String, MovedRow> givers,
      Map<String, MovedRow> takers,
      @Nullable RowMove move) {
    List<KnownHandover> known = new ArrayList<>(since(row.key()));
    byte[] image = row.image();
    MovedRow taker = row.op() == RowOp.MOVED ? takers.get(row.key()) : null;
    MovedRow giver = row.movedIn() ? givers.get(row.key()) : null;
    if (taker != null) {
      known.add(new KnownHandover(taker.handover(false), move));
      if (taker.row.op() == RowOp.PUT) { // it may have changed the row in the same commit
        image = taker.row.image();
      }
    } else if (giver != null) {
      known.add(new KnownHandover(giver.handover(true), move));
    }
    if (known.isEmpty()) {
      return row;
    }
    forgetSettled();
    known = new ArrayList<>(known.subList(Math.max(0, known.size() - Handover.MOST), known.size()));
    rows.put(row.key(), known);
    return row.as(
        RowHeader.withHandovers(
            image, row.op(), known.stream().map(KnownHandover::handover).toList()),
        known.stream().map(KnownHandover::move).toList());
  }

  /** What is not known to be settled. */
  private List<KnownHandover> since(String key) {
    List<KnownHandover> known = rows.get(key);
    if (known == null) {
      return List.of();
    }
    known.removeIf(one -> isSettled(key, one));
    if (known.isEmpty()) {
      rows.remove(key);
    }
    return known;
  }

  private boolean isSettled(String key, KnownHandover one) {
    RowMove move = one.move;
    return (move != null && move.hasFailed())
        || (one.version() > 0 && tracker.isDurable(key, one.version()));
  }

  private void forgetSettled() {
    if (rows.size() >= MANY_ROWS) {
      rows.entrySet()
          .removeIf(
              row -> {
                row.getValue().removeIf(one -> isSettled(row.getKey(), one));
                return row.getValue().isEmpty();
              });
    }
  }
}

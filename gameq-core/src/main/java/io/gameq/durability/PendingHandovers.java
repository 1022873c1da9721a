package io.gameq.durability;

import io.gameq.change.ChangedRow;
import io.gameq.change.ChangedRow.Trade;
import io.gameq.change.Commit.CommitPart;
import io.gameq.owner.SessionRef;
import io.gameq.rows.HandledRow.EncodedRow;
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

  private final Map<String, List<Known>> rows = new HashMap<>();

  /**
   * A handover.
   *
   * @param trade the commit of this session that has its version; null when the handover has it
   */
  private record Known(Handover handover, @Nullable Trade trade) {
    long version() {
      return trade == null ? handover.version() : trade.version();
    }
  }

  /** Those of an inbox: what is sent is new. */
  public static PendingHandovers none() {
    return new PendingHandovers(List.of());
  }

  /** Learns from rows that the session takes over. */
  public PendingHandovers(List<EncodedRow> adopted) {
    Map<String, EncodedRow> newest = new HashMap<>();
    for (EncodedRow row : adopted) {
      newest.merge(row.key(), row, (a, b) -> b.version() > a.version() ? b : a);
    }
    newest.forEach(
        (key, row) -> {
          for (Handover handover : RowHeader.handovers(row.image())) {
            add(key, new Known(handover, null));
          }
        });
  }

  synchronized boolean isEmpty() {
    return rows.isEmpty();
  }

  private void add(String key, Known known) {
    rows.computeIfAbsent(key, k -> new ArrayList<>()).add(known);
  }

  /**
   * The same commit, whose rows tell of their handovers, those of this commit included.
   *
   * @param of the handed-over rows of each part's session, in the order of the parts
   * @param trade stands for this commit; null when it moves no row
   */
  public static List<CommitPart> told(
      List<CommitPart> parts,
      List<DurableTracker> trackers,
      List<PendingHandovers> of,
      @Nullable Trade trade) {
    if (trade == null && areEmpty(of)) {
      return parts;
    }
    Map<String, Half> givers = new HashMap<>();
    Map<String, Half> takers = new HashMap<>();
    for (CommitPart part : parts) {
      for (ChangedRow row : part.rows()) {
        if (row.op() == RowOp.MOVED) {
          givers.put(row.key(), new Half(part.session(), row));
        } else if (row.movedIn()) {
          takers.put(row.key(), new Half(part.session(), row));
        }
      }
    }
    List<CommitPart> told = new ArrayList<>(parts.size());
    for (int i = 0; i < parts.size(); i++) {
      PendingHandovers its = of.get(i);
      DurableTracker tracker = trackers.get(i);
      told.add(
          new CommitPart(
              parts.get(i).session(),
              parts.get(i).rows().stream()
                  .map(row -> its.told(row, tracker, givers, takers, trade))
                  .toList()));
    }
    return told;
  }

  private static boolean areEmpty(List<PendingHandovers> all) {
    for (PendingHandovers one : all) {
      if (!one.isEmpty()) {
        return false;
      }
    }
    return true;
  }

  private record Half(SessionRef session, ChangedRow row) {
    Handover handover(boolean received) {
      return new Handover(received, session.owner(), session.id(), 0);
    }
  }

  private synchronized ChangedRow told(
      ChangedRow row,
      DurableTracker tracker,
      Map<String, Half> givers,
      Map<String, Half> takers,
      @Nullable Trade trade) {
    List<Known> known = new ArrayList<>(since(row.key(), tracker));
    byte[] image = row.image();
    Half taker = row.op() == RowOp.MOVED ? takers.get(row.key()) : null;
    Half giver = row.movedIn() ? givers.get(row.key()) : null;
    if (taker != null) {
      known.add(new Known(taker.handover(false), trade));
      if (taker.row.op() == RowOp.PUT) { // it may have changed the row in the same commit
        image = taker.row.image();
      }
    } else if (giver != null) {
      known.add(new Known(giver.handover(true), trade));
    }
    if (known.isEmpty()) {
      return row;
    }
    forgetSettled(tracker);
    known = new ArrayList<>(known.subList(Math.max(0, known.size() - Handover.MOST), known.size()));
    rows.put(row.key(), known);
    return row.as(
        RowHeader.withHandovers(image, row.op(), known.stream().map(Known::handover).toList()),
        known.stream().map(Known::trade).toList());
  }

  /** What is not known to be settled. */
  private List<Known> since(String key, DurableTracker tracker) {
    List<Known> known = rows.get(key);
    if (known == null) {
      return List.of();
    }
    known.removeIf(one -> isSettled(key, one, tracker));
    if (known.isEmpty()) {
      rows.remove(key);
    }
    return known;
  }

  private static boolean isSettled(String key, Known one, DurableTracker tracker) {
    Trade trade = one.trade;
    return (trade != null && trade.hasFailed())
        || (one.version() > 0 && tracker.isDurable(key, one.version()));
  }

  private void forgetSettled(DurableTracker tracker) {
    if (rows.size() >= MANY_ROWS) {
      rows.entrySet()
          .removeIf(
              row -> {
                row.getValue().removeIf(one -> isSettled(row.getKey(), one, tracker));
                return row.getValue().isEmpty();
              });
    }
  }
}

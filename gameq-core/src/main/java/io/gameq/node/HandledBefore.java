package io.gameq.node;

import io.gameq.ClaimLostException;
import io.gameq.change.ChangedRow;
import io.gameq.durability.DurableTracker;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.HandledRow;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * Messages whose handlers' rows a session has committed or adopted, until MySQL has them.
 * Thread-safe.
 *
 * <p>Of two handlers of a message whose rows wait in one owner together MySQL could take neither:
 * each row has one image by then. So the second is refused before it is sent. Once the first's rows
 * are in MySQL, it is the flush that refuses the second's.
 */
final class HandledBefore {
  /** Beyond it those are searched for that are in MySQL by now. */
  private static final int MANY = 256;

  private final DurableTracker tracker;
  private final Map<String, String> byMessage = new HashMap<>();
  private int commitsUnderWay;
  private int searchAbove = MANY;

  HandledBefore(DurableTracker tracker, Collection<EncodedRow> adopted) {
    this.tracker = tracker;
    for (EncodedRow row : adopted) {
      if (HandledRow.is(row.key())) {
        byMessage.put(HandledRow.handling(row.key()), row.key());
      }
    }
  }

  /**
   * Notes what is about to be committed, when none of it was handled by another. To be {@linkplain
   * #ended ended}.
   *
   * @param handled rows of {@link HandledRow}
   * @throws ClaimLostException naming the owner; then nothing is noted
   */
  synchronized void begin(Collection<ChangedRow> handled) {
    for (ChangedRow row : handled) {
      String before = byMessage.get(HandledRow.handling(row.key()));
      if (before != null && !before.equals(row.key())) {
        throw new ClaimLostException(
            "%s has the rows of another handler of this message, its own or adopted ones"
                .formatted(tracker.session().owner()));
      }
    }
    handled.forEach(row -> byMessage.put(HandledRow.handling(row.key()), row.key()));
    commitsUnderWay++;
  }

  /**
   * The tracker knows of the commit.
   *
   * @param isSubmitted false when it will not be sent: it is forgotten
   */
  synchronized void ended(Collection<ChangedRow> handled, boolean isSubmitted) {
    commitsUnderWay--;
    if (!isSubmitted) {
      handled.forEach(row -> byMessage.remove(HandledRow.handling(row.key()), row.key()));
    }
    if (commitsUnderWay == 0 && byMessage.size() > searchAbove) {
      byMessage.values().retainAll(tracker.notDurable());
      searchAbove = Math.max(MANY, 2 * byMessage.size());
    }
  }
}

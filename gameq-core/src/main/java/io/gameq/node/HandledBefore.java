package io.gameq.node;

import io.gameq.ClaimLostException;
import io.gameq.change.ChangedRow;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.HandledRow;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * Messages whose handlers' rows a session has adopted. Immutable.
 *
 * <p>Of two handlers of a message whose rows wait in one owner together MySQL could take neither:
 * each row has one image by then. So the second is refused before it is sent.
 */
final class HandledBefore {
  private final Map<String, String> byMessage = new HashMap<>();

  HandledBefore(Collection<EncodedRow> adopted) {
    for (EncodedRow row : adopted) {
      if (HandledRow.is(row.key())) {
        byMessage.put(HandledRow.handling(row.key()), row.key());
      }
    }
  }

  /**
   * Passes when none of these was handled by another.
   *
   * @param handled rows of {@link HandledRow}
   * @throws ClaimLostException naming the owner
   */
  void check(NodeSession session, Collection<ChangedRow> handled) {
    if (byMessage.isEmpty()) { // nearly always
      return;
    }
    for (ChangedRow row : handled) {
      String before = byMessage.get(HandledRow.handling(row.key()));
      if (before != null && !before.equals(row.key())) {
        throw new ClaimLostException(
            "%s has the rows of another handler of this message: the session took them over"
                .formatted(session.owner()));
      }
    }
  }
}

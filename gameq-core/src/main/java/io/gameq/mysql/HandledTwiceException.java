package io.gameq.mysql;

import io.gameq.DeadLetter;
import io.gameq.mysql.ErrorKind.RowChange;
import io.gameq.rows.HandledRow;
import java.sql.SQLException;
import java.util.List;

/**
 * Of messages that these rows tell of another handler's rows count: nothing that was committed
 * together with them, or on top of it, may be written.
 */
public final class HandledTwiceException extends SQLException {
  private static final long serialVersionUID = 1L;

  private final transient List<RowChange> refused;

  /** With the rows of {@code gameq_handled} that are refused, one at least. */
  public HandledTwiceException(List<RowChange> refused) {
    super(
        "another handler of message %s was flushed before, and its rows count"
            .formatted(HandledRow.message(refused.get(0).key())),
        "45000",
        DeadLetter.HANDLED_TWICE);
    this.refused = List.copyOf(refused);
  }

  public List<RowChange> refused() {
    return refused;
  }
}

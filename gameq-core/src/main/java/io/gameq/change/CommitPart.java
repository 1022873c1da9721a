package io.gameq.change;

import io.gameq.owner.SessionRef;
import java.util.Collection;
import java.util.List;

/** One session's share of a commit; immutable but for the versions inside the images. */
public record CommitPart(SessionRef session, List<ChangedRow> rows) {
  /** Keys and images, in bytes. */
  public long bytes() {
    return bytes(rows);
  }

  /** The same of some rows. Each commit counts them several times: a stream would cost more. */
  public static long bytes(Collection<ChangedRow> rows) {
    long sum = 0;
    for (ChangedRow row : rows) {
      sum += row.bytes();
    }
    return sum;
  }
}

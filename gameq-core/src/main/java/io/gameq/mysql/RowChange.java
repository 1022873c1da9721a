package io.gameq.mysql;

import io.gameq.OwnerId;
import io.gameq.catalog.RowImage;
import io.gameq.catalog.RowKey;

/**
 * One row on its way into MySQL: its newest image, its key, and the owner under which it was
 * changed.
 *
 * @param encoded the image as it was committed
 */
public record RowChange(OwnerId owner, RowKey key, RowImage image, byte[] encoded) {
  /** The newer of two changes of a row, with what it does not name as the older one has it. */
  RowChange newest(RowChange other) {
    boolean isNewer = image.version() >= other.image.version();
    RowChange newer = isNewer ? this : other;
    RowChange older = isNewer ? other : this;
    RowImage both = newer.image.over(older.image);
    return both == newer.image ? newer : new RowChange(newer.owner, newer.key, both, newer.encoded);
  }
}

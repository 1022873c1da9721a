package io.gameq.mysql;

import io.gameq.owner.OwnerId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowImage;
import org.jspecify.annotations.Nullable;

/**
 * One row on its way into MySQL: its newest image, its key, and the owner under which it was
 * changed. Each is equal to itself alone.
 *
 * @param encoded the image as it was committed
 */
public record RowChange(OwnerId owner, RowKey key, RowImage image, byte[] encoded) {
  @Override
  public boolean equals(@Nullable Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}

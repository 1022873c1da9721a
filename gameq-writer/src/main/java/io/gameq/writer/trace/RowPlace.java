package io.gameq.writer.trace;

import io.gameq.owner.OwnerId;
import io.gameq.rows.Column;
import io.gameq.rows.RowImage;
import io.gameq.rows.RowOp;
import io.gameq.terminal.Shown;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One version of a row, in one place. Immutable.
 *
 * @param owner who changed it
 * @param session whose change it is, or who sent it, or the dead letter's number; empty where none
 *     is known
 * @param version unsigned; 0 when it is too damaged to tell
 * @param op null where no row is, as of a discard
 * @param image null where no row is, or it cannot be read
 * @param note what else is to be said, such as why it cannot be read; never a value
 */
public record RowPlace(
    Where where,
    OwnerId owner,
    String session,
    long version,
    @Nullable RowOp op,
    @Nullable RowImage image,
    String note) {
  /** The places in which a version of a row may be, on its way. */
  public enum Where {
    /** In a node's log: the game committed it. */
    WAL,
    /** In Redis, to be flushed. */
    DIRTY,
    /** In Redis, taken by a writer. */
    CLAIMED,
    /** In Redis, of a session that lost its owner: never flushed. */
    STALE,
    /** In the table. */
    MYSQL,
    /** Deleted in this version. */
    TOMBSTONE,
    /** Refused by MySQL. */
    DEAD_LETTER,
    /** Given up by an operator up to this version. */
    DISCARD,
    /** Moved between owners in this version, one half is still to come. */
    HANDOVER
  }

  /**
   * The values of its columns as a terminal may show them: the key alone of a delete, and none that
   * it leaves as they are. Empty where no row is.
   */
  public Map<String, String> columns() {
    Map<String, String> columns = new LinkedHashMap<>();
    if (image != null) {
      boolean isDelete = image.op() == RowOp.DELETE;
      List<Column> all = isDelete ? image.table().keyColumns() : image.table().columns();
      for (int i = 0; i < all.size(); i++) {
        if (isDelete || image.names(i)) {
          columns.put(all.get(i).name(), Shown.value(image.values()[i]));
        }
      }
    }
    return columns;
  }

  boolean isNewerThan(@Nullable RowPlace other) {
    return other == null || Long.compareUnsigned(version, other.version) > 0;
  }
}

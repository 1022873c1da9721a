package io.gameq;

import io.gameq.catalog.RowImage;
import io.gameq.catalog.RowKey;
import io.gameq.catalog.RowOp;
import io.gameq.catalog.Table;
import io.gameq.mysql.DeadLetterTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an owner has, merged from Redis and MySQL: of each row the newest version wins, and deletes
 * and moves hide rows. Not thread-safe while rows are added.
 */
final class OwnerView {
  private final OwnerId owner;
  private final Map<RowKey, RowImage> newest = new LinkedHashMap<>();
  private final List<DeadLetter> deadLetters = new ArrayList<>();
  private long highestVersion;

  OwnerView(OwnerId owner) {
    this.owner = owner;
  }

  /** Takes a row image from Redis or MySQL in; of equal versions the first stays. */
  void add(RowImage image) {
    sawVersion(image.version());
    newest.merge(
        image.rowKey(), image, (there, other) -> other.version() > there.version() ? other : there);
  }

  /** A version of this owner that no row carries any more, such as a tombstone's. */
  void sawVersion(long version) {
    highestVersion = Math.max(highestVersion, version);
  }

  /** A tombstone hides the row up to its version. */
  void addTombstone(RowKey key, long version) {
    sawVersion(version);
    newest.computeIfPresent(key, (k, image) -> image.version() <= version ? null : image);
  }

  /** A row that MySQL refused, unless Redis has a newer version; null when it cannot be read. */
  void addDeadLetter(DeadLetterTable.Stored letter, @Nullable RowImage image) {
    DeadLetterTable.Refused refused = letter.refused();
    if (image != null) { // else the version may be damaged too
      sawVersion(refused.version());
      RowImage there = newest.get(image.rowKey());
      if (there != null && there.version() > refused.version()) {
        return;
      }
    }
    boolean delete = image != null && image.op() == RowOp.DELETE;
    deadLetters.add(
        new DeadLetter(
            refused.table(),
            letter.key(),
            refused.version(),
            delete,
            image == null || delete ? null : new Row(image.table(), image.values()),
            refused.errorCode(),
            refused.errorText(),
            refused.attempts(),
            letter.refusedAt()));
  }

  List<DeadLetter> deadLetters() {
    return List.copyOf(deadLetters);
  }

  long highestVersion() {
    return highestVersion;
  }

  /** The owner's rows of one table, in the order in which they were found. */
  List<Row> rows(Table table) {
    List<Row> rows = new ArrayList<>();
    for (RowImage image : newest.values()) {
      if (image.table() == table
          && image.op() == RowOp.PUT
          && owner.equals(table.ownerOf(image.values()))) {
        rows.add(new Row(table, image.values()));
      }
    }
    return rows;
  }
}

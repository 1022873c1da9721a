package io.gameq.node;

import io.gameq.RowRefusedException;
import io.gameq.change.ChangedRow;
import io.gameq.owner.OwnerId;
import io.gameq.rows.RowKey;
import io.gameq.rows.RowOp;
import io.gameq.rows.Table;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A row on its way to an owner whom somebody else may have open, or nobody. Immutable. */
record SentRow(OwnerId to, ChangedRow row) {
  /** Throws RowRefusedException when the row does not fit its table, or is not that owner's. */
  static SentRow of(GameRows rows, OwnerId to, GameRows.Given given) {
    Table table = given.table();
    if (!table.isOwnedBy(to, given.values())) {
      throw new RowRefusedException(
          "%s: the row belongs to %s by its column %s, and is sent to %s"
              .formatted(
                  table.name(), table.ownerOf(given.values()), table.ownerColumn().name(), to));
    }
    RowKey key = RowKey.of(table, given.values());
    return new SentRow(to, rows.encode(table, key, RowOp.PUT, given.values(), null));
  }

  /** Throws RowRefusedException when two have one key. */
  static List<SentRow> distinct(List<SentRow> rows) {
    Set<String> keys = new HashSet<>();
    rows.forEach(
        row -> {
          if (!keys.add(row.row.key())) {
            throw row.isTwice();
          }
        });
    return rows;
  }

  RowRefusedException isTwice() {
    return new RowRefusedException(
        "row %s is sent twice in one commit: what is sent needs a new key".formatted(row.key()));
  }
}

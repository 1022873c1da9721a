package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.Row;
import io.gameq.RowRefusedException;
import io.gameq.change.CarriedColumns;
import io.gameq.change.ChangedRow;
import io.gameq.message.MessageChange;
import io.gameq.owner.OwnerId;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.PartialRow;
import io.gameq.rows.RowKey;
import io.gameq.rows.RowOp;
import io.gameq.rows.Table;
import io.gameq.view.MissingTables;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Checks the puts, deletes, moves and messages of one session, encodes them and stages them.
 * Thread-safe.
 *
 * <p>A change that is refused tears what is staged: that may be the half before it.
 */
final class ChangeStaging {
  private final NodeSession session;
  private final GameRows rows;
  private final MissingTables missing;
  private final StagedChanges staged;
  private final OwnerId owner;

  ChangeStaging(NodeSession session, GameRows rows, MissingTables missing, StagedChanges staged) {
    this.session = session;
    this.rows = rows;
    this.missing = missing;
    this.staged = staged;
    this.owner = missing.owner();
  }

  /** Stages into a change set, beside what is staged in the session. */
  ChangeStaging into(StagedChanges.Size sizeOfSet) {
    staged.requireOpen();
    return new ChangeStaging(session, rows, missing, staged.beside(sizeOfSet));
  }

  NodeSession session() {
    return session;
  }

  StagedChanges staged() {
    return staged;
  }

  OwnerId owner() {
    return owner;
  }

  void put(Supplier<GameRows.Given> given) {
    try {
      put(given.get());
    } catch (RuntimeException e) {
      throw refused("put", e);
    }
  }

  private void put(GameRows.Given row) {
    requireKnown(row.table());
    checkOwned(row);
    RowKey key = RowKey.of(row.table(), row.values());
    staged.stage(rows.encode(row.table(), key, RowOp.PUT, row.values(), carried(key)));
  }

  void update(Supplier<PartialRow> given) {
    try {
      PartialRow part = given.get();
      RowKey key = part.key();
      Row before = session.currentRow(part.table(), key, staged.get(key.text()));
      put(rows.given(part, before));
    } catch (RuntimeException e) {
      throw refused("update", e);
    }
  }

  /** With the parts of the primary key in their order. */
  void delete(Supplier<Table> table, Object[] key) {
    try {
      Table of = table.get();
      requireKnown(of);
      Object[] parts = CanonicalRow.key(of, key);
      int part = of.keyColumns().indexOf(of.ownerColumn());
      if (part >= 0 && !parts[part].equals(of.ownerColumnValue(owner))) {
        throw new RowRefusedException(
            ("%s: the key names another owner by its column %s than %s: delete it in that"
                    + " owner's session")
                .formatted(of.name(), of.ownerColumn().name(), owner));
      }
      staged.stage(rows.encode(of, RowKey.ofKey(of, parts), RowOp.DELETE, parts, null));
    } catch (RuntimeException e) {
      throw refused("delete", e);
    }
  }

  /** Stages a move in both sessions; when it is refused, tears both. */
  void move(Supplier<GameRows.Given> given, ChangeStaging to) {
    try {
      move(given.get(), to);
    } catch (RuntimeException e) {
      throw to.refused("move", refused("move", e));
    }
  }

  private void move(GameRows.Given row, ChangeStaging to) {
    Table table = row.table();
    if (table.keyColumns().contains(table.ownerColumn())) {
      throw new RowRefusedException(
          ("%s: the primary key names the owner, so this row cannot move: delete it here"
                  + " and put it in the other session, and commit both together")
              .formatted(table.name()));
    }
    requireKnown(table);
    to.requireKnown(table);
    to.checkOwned(row);
    RowKey key = RowKey.of(table, row.values());
    CarriedColumns.Carried carried = carried(key);
    ChangedRow away = rows.encode(table, key, RowOp.MOVED, row.values(), carried);
    to.staged.stage(rows.encode(table, key, RowOp.PUT, row.values(), carried).asMovedIn());
    to.session.tracker().movesIn(key.text(), carried);
    staged.stage(away);
  }

  void publish(Supplier<MessageChange> message) {
    try {
      staged.stage(message.get());
    } catch (RuntimeException e) {
      throw refused("publish", e);
    }
  }

  void send(OwnerId to, Supplier<GameRows.Given> given) {
    try {
      if (to.equals(owner)) {
        throw new RowRefusedException(
            "rows are sent to other owners than %s, whose session this is: put them".formatted(to));
      }
      staged.stage(rows.sent(to, given.get()));
    } catch (RuntimeException e) {
      throw refused("send", e);
    }
  }

  /** What a put takes along that its game does not know. */
  private CarriedColumns.@Nullable Carried carried(RowKey key) {
    return session.tracker().carried(key.text(), staged.get(key.text()));
  }

  /** A change of a row that was not told might be older than what MySQL has, and count for less. */
  private void requireKnown(Table table) {
    missing.requireKnown(table, RowRefusedException::new);
  }

  private void checkOwned(GameRows.Given row) {
    Table table = row.table();
    if (!table.isOwnedBy(owner, row.values())) {
      throw new RowRefusedException(
          ("%s: the row belongs to %s by its column %s, not to %s: put it in that owner's"
                  + " session, or move it there")
              .formatted(
                  table.name(), table.ownerOf(row.values()), table.ownerColumn().name(), owner));
    }
  }

  /** The message of gameq's own exceptions names the table; others may hold a value. */
  RuntimeException refused(String change, RuntimeException reason) {
    staged.tear(
        "a %s was refused (%s);"
            .formatted(
                change,
                reason instanceof GameQueueException
                    ? reason.getMessage()
                    : reason.getClass().getSimpleName()),
        reason);
    return reason;
  }
}

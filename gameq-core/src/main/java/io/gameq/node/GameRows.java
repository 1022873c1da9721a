package io.gameq.node;

import io.gameq.Row;
import io.gameq.RowRefusedException;
import io.gameq.change.CarriedColumns;
import io.gameq.change.ChangedRow;
import io.gameq.owner.OwnerId;
import io.gameq.rows.CanonicalRow;
import io.gameq.rows.CanonicalRow.PartialRow;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RecordMapper;
import io.gameq.rows.RowCodec;
import io.gameq.rows.RowHeader.RowOp;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.rows.TableRow;
import io.gameq.view.GameTables;
import io.gameq.view.OwnerView;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Turns what the game gives, records or columns by name, into encoded rows, and rows back into what
 * the game takes. Thread-safe.
 *
 * @param mostRowBytes of a row, encoded
 */
record GameRows(GameTables tables, RowCodec codec, Clock clock, int mostRowBytes) {

  /** A full row, checked, with defaults filled in. */
  record Given(Table table, @Nullable Object[] values) {}

  /** A row on its way to an owner whom somebody else may have open, or nobody. */
  record Sent(OwnerId to, ChangedRow row) {
    RowRefusedException isTwice() {
      return new RowRefusedException(
          "row %s is sent twice in one commit: what is sent needs a new key".formatted(row.key()));
    }
  }

  static String tableOf(EncodedRow row) {
    return RowKey.tableName(row.key());
  }

  Table table(String name) {
    return tables.games().table(name);
  }

  <T extends Record> RecordMapper<T> mapper(Class<T> type) {
    return tables.mapper(type);
  }

  /** Throws RowRefusedException when the row does not fit its table. */
  @SuppressWarnings("unchecked") // the class of a T
  <T extends Record> Given given(T row) {
    RecordMapper<T> mapper = mapper((Class<T>) row.getClass());
    return new Given(mapper.table(), mapper.toRow(row, clock));
  }

  /** Throws RowRefusedException when the columns do not fit the table. */
  Given given(String table, Map<String, ?> columns) {
    Table of = table(table);
    return new Given(of, CanonicalRow.of(of, columns, clock));
  }

  /** Throws RowRefusedException when the columns that a record has do not fit its table. */
  @SuppressWarnings("unchecked") // the class of a T
  <T extends Record> PartialRow part(T row) {
    return mapper((Class<T>) row.getClass()).toPart(row);
  }

  /** Throws RowRefusedException when the columns do not fit the table. */
  PartialRow part(String table, Map<String, ?> columns) {
    return CanonicalRow.partOf(table(table), columns);
  }

  /** The full row of an update; {@code before} is the row as it was, null when there was none. */
  Given given(PartialRow part, @Nullable Row before) {
    return new Given(part.table(), part.over(before, clock));
  }

  /** The row that a put would write. */
  Row row(Given row) {
    return new TableRow(row.table(), row.values());
  }

  /** What an owner has in one table. Throws GameQueueException when it had gone. */
  List<Row> rows(OwnerView view, Table of) {
    return view.rows(of).stream().map(image -> tables.row(image, of)).toList();
  }

  /** A row of this node's own commits. Throws LayoutException when its table was altered since. */
  RowImage decode(EncodedRow row) {
    Table written = tables.written(table(RowKey.tableName(row.key())));
    return codec.decodeForGame(written, row.image());
  }

  /** Throws RowRefusedException when the row does not fit its table, or is not that owner's. */
  Sent sent(OwnerId to, Given given) {
    Table table = given.table();
    if (!table.isOwnedBy(to, given.values())) {
      throw new RowRefusedException(
          "%s: the row belongs to %s by its column %s, and is sent to %s"
              .formatted(
                  table.name(), table.ownerOf(given.values()), table.ownerColumn().name(), to));
    }
    RowKey key = RowKey.of(table, given.values());
    return new Sent(to, encode(table, key, RowOp.PUT, given.values(), null));
  }

  /** A put or move of a row, or its delete by its key alone. */
  ChangedRow encode(
      Table table,
      RowKey key,
      RowOp op,
      @Nullable Object[] values,
      CarriedColumns.@Nullable Carried carried) {
    byte[] image =
        op == RowOp.DELETE
            ? codec.encode(table, op, values)
            : codec.encode(tables.image(table, op, values, carried));
    if (image.length > mostRowBytes) {
      throw new RowRefusedException(
          "%s: a row of %s bytes encoded, the limit is %s: raise maxRowBytes"
              .formatted(table.name(), image.length, mostRowBytes));
    }
    return new ChangedRow(key.text(), image);
  }
}

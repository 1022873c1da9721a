package io.gameq.recovery.mysql;

import static java.util.stream.Collectors.joining;

import io.gameq.GameQueueException;
import io.gameq.agent.RateLimit;
import io.gameq.healing.PlannedRow;
import io.gameq.healing.PlannedRow.Status;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.RowImage;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Puts back values of single columns, as after DROP COLUMN by mistake: into rows that MySQL holds
 * in the version that a WAL has, with another value. A row that was written since is left alone.
 * Used by one thread.
 */
public final class ColumnRestore {
  private static final int ROWS_PER_TRANSACTION = 500;

  private final MySql mysql;
  private final RateLimit limit;
  private final Map<Cell, List<RowImage>> waiting = new LinkedHashMap<>();
  private long found;
  private long written;

  /** A column of a table. */
  private record Cell(Table table, int column) {
    Column named() {
      return table.columns().get(column);
    }
  }

  /**
   * For some columns.
   *
   * @param names each {@code table.column}
   * @param limit of rows that are written a second
   * @throws GameQueueException when one is no column of a managed table, or names rows or owners
   */
  ColumnRestore(MySql mysql, Catalog catalog, List<String> names, RateLimit limit) {
    this.mysql = mysql;
    this.limit = limit;
    for (String name : names) {
      int dot = name.lastIndexOf('.');
      if (dot < 1) {
        throw new GameQueueException("--column takes TABLE.COLUMN, as pet.horns, not " + name);
      }
      Table table = catalog.table(name.substring(0, dot));
      int column = table.indexOf(name.substring(dot + 1));
      if (table.namesRowOrOwner(column)) {
        throw new GameQueueException(name + " names the row or its owner: that is no value of it");
      }
      waiting.put(new Cell(table, column), new ArrayList<>());
    }
  }

  /**
   * Takes a row, if one of the columns has another value than in the WAL.
   *
   * @param execute whether to write it; else it is counted alone
   * @throws io.gameq.MySqlException when MySQL does not answer; what was written stays
   */
  public void add(PlannedRow row, boolean execute) {
    RowImage wal = row.wal();
    RowImage stored = row.mysql();
    if (row.status() != Status.OTHER_CONTENT || wal == null || stored == null) {
      return;
    }
    waiting.forEach(
        (of, images) -> {
          if (of.table.name().equals(wal.table().name())
              && wal.version() == stored.version()
              && wal.names(of.column)
              && !Objects.deepEquals(wal.values()[of.column], stored.values()[of.column])) {
            found++;
            if (execute) {
              images.add(wal);
              if (images.size() >= ROWS_PER_TRANSACTION) {
                write(of, images);
              }
            }
          }
        });
  }

  /** Writes what is left; throws as {@link #add}. */
  public void finish() {
    waiting.forEach(this::write);
  }

  private void write(Cell of, List<RowImage> images) {
    if (images.isEmpty()) {
      return;
    }
    limit.take(images.size());
    String keys =
        of.table.keyColumns().stream().map(ColumnRestore::isGiven).collect(joining(" AND "));
    String sql =
        "UPDATE %s SET %s WHERE %s AND %s = ?"
            .formatted(
                JdbcValues.quoted(of.table.name()),
                isGiven(of.named()),
                keys,
                JdbcValues.quoted(Table.VERSION_COLUMN));
    written +=
        mysql.inTransaction(
            handle -> {
              long rows = 0;
              for (RowImage image : images) {
                List<@Nullable Object> arguments = new ArrayList<>();
                arguments.add(JdbcValues.parameter(of.named(), image.values()[of.column]));
                arguments.addAll(Sql.keyArguments(of.table, List.of(image.rowKey())));
                arguments.add(Long.toUnsignedString(image.version()));
                rows += Sql.execute(handle.getConnection(), sql, arguments.toArray());
              }
              return rows;
            });
    images.clear();
  }

  private static String isGiven(Column column) {
    return JdbcValues.quoted(column.name()) + " = " + column.type().jdbc().placeholder();
  }

  /** How many values differ from those of the WAL. */
  public long found() {
    return found;
  }

  /** How many of them were written. */
  public long written() {
    return written;
  }
}

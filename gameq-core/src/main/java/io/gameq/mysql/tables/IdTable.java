package io.gameq.mysql.tables;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.rows.EncodedRow;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import org.jdbi.v3.core.Handle;

/**
 * Ranges of ids for new rows, in {@code gameq_id}: a range is committed before anybody uses it, and
 * never given again. Thread-safe.
 */
public final class IdTable {
  private final MySql mysql;

  public IdTable(MySql mysql) {
    this.mysql = mysql;
  }

  /**
   * Takes the next ids of a column. Before the first of them the range begins above all that waits
   * for the table and all that it has, and above what MySQL would give next.
   *
   * @param highestWaiting what waits; asked before MySQL, where it may be by then, and only for the
   *     first ids of the column
   * @return the first of {@code count} ids
   * @throws io.gameq.MySqlException when MySQL is away or refuses
   */
  public long take(String table, String column, int count, LongSupplier highestWaiting) {
    String name = table + "." + column;
    OptionalLong first = mysql.inTransaction(handle -> next(handle, name, count));
    if (first.isPresent()) {
      return first.getAsLong();
    }
    long above = highestWaiting.getAsLong();
    return mysql.inTransaction(
        handle -> {
          begin(handle, name, table, column, above);
          return next(handle, name, count).orElseThrow();
        });
  }

  /** The rows of a table that MySQL refused: an operator may have them written yet. */
  public List<EncodedRow> refused(String table) {
    return mysql.list(
        "SELECT row_key, image FROM gameq_dead_letter WHERE table_name = ?",
        rs ->
            new EncodedRow(PercentEncoding.percent(table) + ":" + rs.getString(1), rs.getBytes(2)),
        table);
  }

  /** LAST_INSERT_ID keeps the number before; empty when nobody has begun. */
  private static OptionalLong next(Handle handle, String name, int count) {
    String advance = "UPDATE gameq_id SET next = LAST_INSERT_ID(next) + ? WHERE name = ?";
    int advanced = handle.execute(advance, count, name);
    return advanced == 0
        ? OptionalLong.empty()
        : OptionalLong.of(handle.select("SELECT LAST_INSERT_ID()").mapTo(Long.class).one());
  }

  /** MySqlPool has AUTO_INCREMENT read afresh: MySQL remembers it for a day. */
  private static void begin(Handle handle, String name, String table, String column, long above) {
    String sql =
        "INSERT IGNORE INTO gameq_id (name, next) SELECT ?, GREATEST(1, ? + 1, COALESCE((SELECT"
            + " MAX(%s) + 1 FROM %s), 1), COALESCE((SELECT AUTO_INCREMENT FROM"
            + " information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?), 1))";
    handle.execute(
        sql.formatted(JdbcValues.quoted(column), JdbcValues.quoted(table)), name, above, table);
  }
}

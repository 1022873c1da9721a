package io.gameq.mysql.tables;

import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlErrors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * Ranges of ids for new rows, in {@code gameq_id}: a range is committed before anybody uses it, and
 * never given again. Thread-safe.
 */
public final class IdTable {
  private final Jdbi jdbi;

  public IdTable(MySql mysql) {
    this.jdbi = mysql.jdbi();
  }

  /**
   * Takes the next ids of a column. Before the first of them the range begins above all that the
   * table has, and above what MySQL would give next.
   *
   * @return the first of {@code count} ids
   * @throws io.gameq.MySqlException when MySQL is away or refuses
   */
  public long take(String table, String column, int count) {
    String name = table + "." + column;
    return MySqlErrors.mysqlAgain(
        () ->
            jdbi.inTransaction(
                handle -> {
                  if (!advance(handle, name, count)) {
                    begin(handle, name, table, column);
                    advance(handle, name, count);
                  }
                  return handle.select("SELECT LAST_INSERT_ID()").mapTo(Long.class).one();
                }));
  }

  /** LAST_INSERT_ID keeps the number before; false when nobody has begun. */
  private static boolean advance(Handle handle, String name, int count) {
    return handle.execute(
            "UPDATE gameq_id SET next = LAST_INSERT_ID(next) + ? WHERE name = ?", count, name)
        == 1;
  }

  private static void begin(Handle handle, String name, String table, String column) {
    String sql =
        "INSERT IGNORE INTO gameq_id (name, next) SELECT ?, GREATEST(1, COALESCE((SELECT MAX(%s) +"
            + " 1 FROM %s), 1), COALESCE((SELECT AUTO_INCREMENT FROM information_schema.TABLES"
            + " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?), 1))";
    int unused =
        handle.execute(
            sql.formatted(JdbcValues.quoted(column), JdbcValues.quoted(table)), name, table);
  }
}

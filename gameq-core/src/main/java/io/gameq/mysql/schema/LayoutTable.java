package io.gameq.mysql.schema;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.RowCodec.LayoutSource;
import io.gameq.rows.Table;
import org.jspecify.annotations.Nullable;

/**
 * Column lists of encoded rows in {@code gameq_layout}. Thread-safe; all throw {@link
 * io.gameq.MySqlException} when MySQL does not answer.
 */
public final class LayoutTable implements LayoutSource {
  private final MySql mysql;

  public LayoutTable(MySql mysql) {
    this.mysql = mysql;
  }

  /** Keeps the column lists of all tables; to be done before rows are encoded with them. */
  public void register(Catalog catalog) {
    catalog.tables().forEach(this::register);
  }

  /** The same of one table. */
  public void register(Table table) {
    register(table.name(), table.fingerprint(), table.layout());
  }

  /** Keeps a column list, unless it is kept. */
  public void register(String table, long fingerprint, String columns) {
    mysql.execute(
        "INSERT IGNORE INTO gameq_layout (table_name, fingerprint, columns) VALUES (?, ?, ?)",
        table,
        fingerprint,
        columns);
  }

  @Override
  public @Nullable String layout(String table, long fingerprint) {
    String sql = "SELECT columns FROM gameq_layout WHERE table_name = ? AND fingerprint = ?";
    return mysql.list(sql, rs -> rs.getString(1), table, fingerprint).stream()
        .findFirst()
        .orElse(null);
  }
}

package io.gameq.mysql.schema;

import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlErrors;
import io.gameq.rows.Catalog;
import io.gameq.rows.LayoutSource;
import io.gameq.rows.Table;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/** Column lists of encoded rows in {@code gameq_layout}. Thread-safe. */
public final class LayoutTable implements LayoutSource {
  private final Jdbi jdbi;

  public LayoutTable(MySql mysql) {
    this.jdbi = mysql.jdbi();
  }

  /** Keeps the column lists of all tables; to be done before rows are encoded with them. */
  public void register(Catalog catalog) {
    catalog.tables().forEach(this::register);
  }

  /** The same of one table. */
  public void register(Table table) {
    int unused =
        MySqlErrors.mysql(
            () ->
                jdbi.withHandle(
                    handle ->
                        handle.execute(
                            "INSERT IGNORE INTO gameq_layout (table_name, fingerprint, columns)"
                                + " VALUES (?, ?, ?)",
                            table.name(),
                            table.fingerprint(),
                            table.layout())));
  }

  @Override
  public @Nullable String layout(String table, long fingerprint) {
    return MySqlErrors.<@Nullable String>mysql(
        () ->
            jdbi.withHandle(
                handle ->
                    handle
                        .select(
                            "SELECT columns FROM gameq_layout WHERE table_name = ? AND fingerprint"
                                + " = ?",
                            table,
                            fingerprint)
                        .mapTo(String.class)
                        .findOne()
                        .orElse(null)));
  }
}

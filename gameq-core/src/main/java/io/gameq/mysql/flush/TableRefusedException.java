package io.gameq.mysql.flush;

import io.gameq.rows.Table;
import java.sql.SQLException;

/** A table that takes no rows now, because it or a column is missing or closed to us. */
public final class TableRefusedException extends SQLException {
  private static final long serialVersionUID = 1L;

  private final transient Table table;

  TableRefusedException(Table table, SQLException cause) {
    super(cause.getMessage(), cause.getSQLState(), cause.getErrorCode(), cause);
    this.table = table;
  }

  public Table table() {
    return table;
  }
}

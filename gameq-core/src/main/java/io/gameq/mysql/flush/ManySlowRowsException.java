package io.gameq.mysql.flush;

import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.List;

/** More rows take MySQL long than one transaction searches for. */
public final class ManySlowRowsException extends SQLTimeoutException {
  private static final long serialVersionUID = 1L;

  private final transient List<RowRefusal> rows;

  ManySlowRowsException(List<RowRefusal> rows, SQLException cause) {
    super(cause.getMessage(), cause.getSQLState(), cause.getErrorCode(), cause);
    this.rows = rows;
  }

  /** Those that were found. */
  public List<RowRefusal> rows() {
    return rows;
  }
}

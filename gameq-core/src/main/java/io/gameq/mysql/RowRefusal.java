package io.gameq.mysql;

import java.sql.SQLException;

/** A row that MySQL refused inside a transaction that goes on without it. */
public record RowRefusal(RowChange row, SQLException error) {
  /** Whether another flush can make MySQL take the row. */
  public boolean isCurable() {
    return ErrorKind.of(error) != ErrorKind.ROW;
  }
}

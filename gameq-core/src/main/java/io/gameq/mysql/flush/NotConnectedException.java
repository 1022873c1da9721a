package io.gameq.mysql.flush;

import java.sql.SQLException;

/** MySQL gave no connection: no transaction was begun, whatever the reason. */
public final class NotConnectedException extends SQLException {
  private static final long serialVersionUID = 1L;

  NotConnectedException(SQLException cause) {
    super(cause.getMessage(), cause.getSQLState(), cause.getErrorCode(), cause);
  }
}

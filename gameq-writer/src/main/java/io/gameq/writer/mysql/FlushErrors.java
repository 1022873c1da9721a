package io.gameq.writer.mysql;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;

/**
 * Sorts MySQL's errors by what helps. Stateless. Numbers: MySQL 9 and MariaDB 11 server error
 * references.
 */
final class FlushErrors {
  /** Lock wait timeout, deadlock: the same transaction may pass at once. */
  private static final Set<Integer> TRY_AGAIN = Set.of(1205, 1213, 3572);

  /**
   * Too many connections, shutdown, read-only (2), kill, login, resource limits, disk full: nothing
   * about the rows.
   */
  private static final Set<Integer> OUTAGE =
      Set.of(
          1040, 1053, 1290, 1836, 1317, 1927, 1044, 1045, 1142, 1203, 1226, 1021, 1114, 1298, 3168,
          1792, 1180, 1030, 1206, 3100);

  private FlushErrors() {}

  static boolean isTryAgain(SQLException e) {
    return TRY_AGAIN.contains(e.getErrorCode());
  }

  static boolean isOutage(SQLException e) {
    String state = e.getSQLState();
    return OUTAGE.contains(e.getErrorCode())
        || (state != null && state.startsWith("08"))
        || e instanceof SQLNonTransientConnectionException
        || e instanceof SQLTransientConnectionException
        || e instanceof SQLRecoverableException;
  }

  /** A unique value that another row of the same flush gives up by its delete. */
  static boolean isDuplicate(SQLException e) {
    return e.getErrorCode() == 1062;
  }
}

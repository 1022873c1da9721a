package io.gameq.mysql.flush;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The end of a try of a transaction that failed, and the time until the next. Stateless. */
public final class TransactionTries {
  private static final int MOST_WAIT_MILLIS_PER_TRY = 20;

  private TransactionTries() {}

  /** Rolls back; a failure to do so is noted with the reason, never thrown. */
  public static void rollBack(Connection connection, Exception because) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      because.addSuppressed(e);
    }
  }

  /**
   * Waits a random time, longer after each try: two transactions that met in a deadlock must not
   * meet again at once.
   *
   * @param tries so far, at least 1
   */
  public static void pauseAfter(int tries) {
    LockSupport.parkNanos(
        TimeUnit.MILLISECONDS.toNanos(
            1 + ThreadLocalRandom.current().nextInt(tries * MOST_WAIT_MILLIS_PER_TRY)));
  }
}

package io.gameq.mysql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.gameq.GameQueueException;
import io.gameq.log.RepeatedWarnings;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pool that says so when the server refuses its login, as it does while a password is changed.
 * Thread-safe. The pool goes on trying, with the password as it is by then.
 */
final class LoginPool extends HikariDataSource {
  private static final Logger LOG = LoggerFactory.getLogger(LoginPool.class);

  private static final long COMPLAIN_EVERY_SECONDS = 10;

  private final RepeatedWarnings complaints = new RepeatedWarnings(COMPLAIN_EVERY_SECONDS);
  private final String refusal;

  /**
   * Opens nothing yet.
   *
   * @param refusal what to say, with user and source of the password
   */
  LoginPool(HikariConfig config, String refusal) {
    super(config);
    this.refusal = refusal;
  }

  @Override
  public Connection getConnection() throws SQLException {
    try {
      return super.getConnection();
    } catch (SQLException e) {
      String told = isRefusedLogin(e) ? refusal : ofFile(e);
      if (told != null) {
        complaints.about("login", LOG::warn, () -> told + "; trying again");
      }
      throw e;
    }
  }

  /** What is wrong with the file of a password or of certificates; null when nothing is. */
  private static @Nullable String ofFile(Throwable error) {
    for (Throwable e = error; e != null; e = e.getCause()) {
      if (e instanceof GameQueueException) {
        return e.getMessage();
      }
    }
    return null;
  }

  /** Whether the server knows no such user and password; the pool wraps what it was told. */
  static boolean isRefusedLogin(SQLException error) {
    for (Throwable e = error; e != null; e = e.getCause()) {
      if (e instanceof SQLException sql
          && (sql.getErrorCode() == 1045
              || ("28000".equals(sql.getSQLState()) && sql.getErrorCode() != 1044))) {
        return true;
      }
    }
    return false;
  }
}

package io.gameq.mysql;

import io.gameq.MySqlException;
import io.gameq.MySqlUnavailableException;
import java.sql.SQLException;
import java.util.regex.Pattern;
import org.jdbi.v3.core.JdbiException;
import org.jspecify.annotations.Nullable;

/** Turns what JDBC and Jdbi throw into gameq's own exception. Stateless. */
public final class MySqlErrors {
  private static final int MOST_TRIES = 3;

  private static final int LOCK_WAIT_TIMEOUT = 1205;

  private MySqlErrors() {}

  /** A call to MySQL. */
  public interface Call<T> {
    T ask() throws SQLException;
  }

  /** Asks; throws {@link MySqlException} with the server's message when it fails. */
  public static <T> T mysql(Call<T> call) {
    try {
      return call.ask();
    } catch (SQLException e) {
      throw failed(e, e);
    } catch (JdbiException e) {
      throw failed(e.getCause() instanceof SQLException sql ? sql : e, e);
    }
  }

  /** Asks as {@link #mysql}, up to three times when others hold locks: a flush may take a while. */
  public static <T> T mysqlAgain(Call<T> call) {
    return mysqlAgain(MOST_TRIES, call);
  }

  /** The same up to so many times. */
  public static <T> T mysqlAgain(int mostTries, Call<T> call) {
    for (int tries = 1; ; tries++) {
      try {
        return mysql(call);
      } catch (MySqlException e) {
        if (tries == mostTries || !isTryAgain(e)) {
          throw e;
        }
      }
    }
  }

  /** Whether it failed, somewhere below this, since others hold locks. */
  public static boolean isTryAgain(@Nullable Throwable e) {
    return ErrorKind.isBelow(e, sql -> ErrorKind.of(sql) == ErrorKind.TRY_AGAIN);
  }

  /** Whether it failed, somewhere below this, since it had waited for a lock for too long. */
  public static boolean isLockWait(@Nullable Throwable e) {
    return ErrorKind.isBelow(e, sql -> sql.getErrorCode() == LOCK_WAIT_TIMEOUT);
  }

  private static MySqlException failed(Exception reason, Exception e) {
    String message = "MySQL does not answer as it should: " + MySqlText.of(reason);
    return reason instanceof SQLException sql && ErrorKind.of(sql) == ErrorKind.OUTAGE
        ? new MySqlUnavailableException(message, e)
        : new MySqlException(message, e);
  }

  /** MySQL's error messages without the values that they quote: those are players'. Stateless. */
  public static final class MySqlText {
    private static final String HIDDEN = "$1 '...'";

    /** Duplicate entry 'Bob-7' for key 'name'; Incorrect integer value: 'x' for column 'level'. */
    private static final Pattern OF_KEY_OR_COLUMN =
        Pattern.compile("(?s)\\b(entry|value:?) '.*'(?= for (?:key|column|function) )");

    /** Truncated incorrect DOUBLE value: '1x'. */
    private static final Pattern AT_THE_END =
        Pattern.compile("(?s)\\b(value:?) '(?!\\.\\.\\.').*'");

    /** Table has no partition for value 42; BIGINT value is out of range in '(`level` - 7)'. */
    private static final Pattern UNQUOTED =
        Pattern.compile("(?s)\\b(no partition for value|out of range in) .*");

    private MySqlText() {}

    /** The message of an exception of MySQL's. */
    public static String of(Throwable e) {
      return of(e.getMessage());
    }

    static String of(@Nullable String message) {
      String text = String.valueOf(message);
      String ofKeyOrColumn = OF_KEY_OR_COLUMN.matcher(text).replaceAll(HIDDEN);
      String atTheEnd = AT_THE_END.matcher(ofKeyOrColumn).replaceAll(HIDDEN);
      return UNQUOTED.matcher(atTheEnd).replaceAll(HIDDEN);
    }
  }
}

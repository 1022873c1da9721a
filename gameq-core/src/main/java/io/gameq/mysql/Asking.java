package io.gameq.mysql;

import io.gameq.MySqlException;
import java.sql.SQLException;
import org.jdbi.v3.core.JdbiException;

/** Turns what JDBC and Jdbi throw into gameq's own exception. Stateless. */
public final class Asking {
  private Asking() {}

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

  private static MySqlException failed(Exception reason, Exception e) {
    return new MySqlException("MySQL does not answer as it should: " + reason.getMessage(), e);
  }
}

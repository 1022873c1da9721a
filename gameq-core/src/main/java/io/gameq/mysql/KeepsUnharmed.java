package io.gameq.mysql;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;

/**
 * Which connections a pool keeps although something failed on them: its own rule closes one after
 * "this server cannot do that", and after a statement that took too long and was ended, which both
 * leave it as it was. Stateless.
 *
 * <p>Made by the pool, from its name: HikariCP 5 takes it no other way, and some games have that.
 */
public final class KeepsUnharmed implements SQLExceptionOverride {
  @java.lang.Override
  public Override adjudicate(SQLException e) {
    return "0A000".equals(e.getSQLState()) || e instanceof SQLTimeoutException
        ? Override.DO_NOT_EVICT
        : Override.CONTINUE_EVICT;
  }
}

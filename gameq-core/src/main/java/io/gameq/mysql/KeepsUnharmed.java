package io.gameq.mysql;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.Arrays;
import java.util.Set;

/**
 * Which connections a pool gives up: those to a server that has become read-only, so that the next
 * one goes to where the primary is by then. And which it keeps although something failed on them:
 * its own rule closes one after "this server cannot do that", and after a statement that took too
 * long and was ended, which both leave it as it was. Stateless.
 *
 * <p>Made by the pool, from its name: HikariCP 5 takes it no other way, and some games have that.
 */
public final class KeepsUnharmed implements SQLExceptionOverride {
  /** Read-only: by option (1290), of InnoDB (1836), a transaction on a replica (1792). */
  private static final Set<Integer> READ_ONLY = Set.of(Logins.READ_ONLY_CODE, 1836, 1792);

  /** HikariCP 5 knows no such word: there the test of the next borrower finds it. */
  private static final Override GIVE_UP =
      Arrays.stream(Override.values())
          .filter(of -> of.name().equals("MUST_EVICT"))
          .findFirst()
          .orElse(Override.CONTINUE_EVICT);

  @java.lang.Override
  public Override adjudicate(SQLException e) {
    if (READ_ONLY.contains(e.getErrorCode())) {
      return GIVE_UP;
    }
    return "0A000".equals(e.getSQLState()) || e instanceof SQLTimeoutException
        ? Override.DO_NOT_EVICT
        : Override.CONTINUE_EVICT;
  }
}

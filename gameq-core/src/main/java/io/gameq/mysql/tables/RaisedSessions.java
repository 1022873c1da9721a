package io.gameq.mysql.tables;

import io.gameq.MySqlException;
import io.gameq.mysql.GroupedCalls;
import io.gameq.mysql.MySqlErrors;
import io.gameq.mysql.Statements;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.Jdbi;

/** Step 1 of open: raises the epochs of owners in {@code gameq_owner}. Thread-safe. */
final class RaisedSessions implements GroupedCalls.Server<RaisedSessions.Wanted, SessionId> {
  private static final int MOST_TRIES = 3;

  /** Before the session is overwritten: assignments run in order. */
  static final String KEEP_THE_LAST_OPEN =
      " before_epoch = IF(state = 'opening', before_epoch, epoch), before_nonce = IF(state ="
          + " 'opening', before_nonce, nonce),";

  private static final String RAISE =
      "INSERT INTO gameq_owner (owner, epoch, nonce, node, state, opened_at) VALUES (?,"
          + " LAST_INSERT_ID(GREATEST(1, ?)), ?, ?, 'opening', UTC_TIMESTAMP(3)) ON DUPLICATE"
          + " KEY UPDATE"
          + KEEP_THE_LAST_OPEN
          + " epoch = LAST_INSERT_ID(GREATEST(epoch + 1, ?)), nonce = ?, node = ?, state ="
          + " 'opening', opened_at = UTC_TIMESTAMP(3)";

  private final Jdbi jdbi;

  RaisedSessions(Jdbi jdbi) {
    this.jdbi = jdbi;
  }

  /** A session that is to be raised; its epoch is at least {@code atLeast}. */
  record Wanted(OwnerId owner, String nonce, String node, long atLeast) {}

  @Override
  public SessionId one(Wanted wanted) {
    return raising(
        wanted.owner, handle -> new SessionId(raise(handle.getConnection(), wanted), wanted.nonce));
  }

  /** In one transaction. */
  @Override
  public List<SessionId> many(List<Wanted> all) {
    SessionId[] raised = new SessionId[all.size()];
    Statements statements = new Statements().add("START TRANSACTION");
    for (int i : OwnerTable.inLockOrder(all.stream().map(Wanted::owner).toList())) {
      Wanted wanted = all.get(i);
      statements.addUpdate(RAISE, (to, at) -> bind(to, at, wanted), count -> true);
      statements.addSelect(
          "SELECT LAST_INSERT_ID()",
          (to, at) -> at,
          rs -> {
            rs.next();
            raised[i] = new SessionId(rs.getLong(1), wanted.nonce);
          });
    }
    MySqlErrors.mysql(
        () -> jdbi.withHandle(handle -> statements.runAndCommit(handle.getConnection())));
    return List.of(raised);
  }

  /**
   * Raises an owner's epoch, again when others hold locks.
   *
   * @throws MySqlException when others lock the owner, too, naming who may
   */
  <T> T raising(OwnerId owner, HandleCallback<T, SQLException> call) {
    for (int tries = 1; ; tries++) {
      try {
        return MySqlErrors.mysql(() -> jdbi.withHandle(call));
      } catch (MySqlException e) {
        if (MySqlErrors.isLockWait(e)) { // who logs in waits no longer: MySQL's 1 s is up to 2
          throw new MySqlException(
              "%s is locked in MySQL, %s".formatted(owner, Locks.byWhom(jdbi)), e);
        }
        if (tries == MOST_TRIES || !MySqlErrors.isTryAgain(e)) {
          throw e;
        }
      }
    }
  }

  /** In one statement, whose answer brings the epoch: LAST_INSERT_ID(expr). */
  private static long raise(Connection connection, Wanted wanted) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(RAISE, Statement.RETURN_GENERATED_KEYS)) {
      bind(statement, 1, wanted);
      statement.executeUpdate();
      try (ResultSet epoch = statement.getGeneratedKeys()) {
        if (!epoch.next()) {
          throw new SQLException("MySQL did not tell the epoch of " + wanted.owner);
        }
        return epoch.getLong(1);
      }
    }
  }

  private static int bind(PreparedStatement statement, int at, Wanted wanted) throws SQLException {
    statement.setString(at, wanted.owner.encoded());
    statement.setLong(at + 1, wanted.atLeast);
    statement.setString(at + 2, wanted.nonce);
    statement.setString(at + 3, wanted.node);
    statement.setLong(at + 4, wanted.atLeast);
    statement.setString(at + 5, wanted.nonce);
    statement.setString(at + 6, wanted.node);
    return at + 7;
  }
}

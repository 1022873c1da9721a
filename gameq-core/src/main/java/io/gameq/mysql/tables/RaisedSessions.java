package io.gameq.mysql.tables;

import io.gameq.MySqlException;
import io.gameq.mysql.GroupedCalls;
import io.gameq.mysql.MySqlErrors;
import io.gameq.mysql.Sql;
import io.gameq.mysql.Statements;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.Jdbi;

/** Step 1 of open: raises the epochs of owners in {@code gameq_owner}. Thread-safe. */
final class RaisedSessions implements GroupedCalls.Server<RaisedSessions.Wanted, SessionId> {
  private static final int MOST_TRIES = 3;

  /** Before the session is overwritten: assignments run in order. */
  static final String KEEP_THE_LAST_OPEN =
      " before_epoch = IF(state = 'opening', before_epoch, epoch), before_nonce = IF(state ="
          + " 'opening', before_nonce, nonce),";

  private static final String NEW_ROW = "(?, GREATEST(1, ?), ?, ?, 'opening', UTC_TIMESTAMP(3))";

  private final Jdbi jdbi;

  RaisedSessions(Jdbi jdbi) {
    this.jdbi = jdbi;
  }

  /** A session that is to be raised; its epoch is at least {@code atLeast}. */
  record Wanted(OwnerId owner, String nonce, String node, long atLeast) {}

  @Override
  public SessionId one(Wanted wanted) {
    return raising(wanted.owner, handle -> raise(handle, List.of(wanted)).get(0));
  }

  /** In one transaction. */
  @Override
  public List<SessionId> many(List<Wanted> all) {
    return MySqlErrors.mysql(() -> jdbi.withHandle(handle -> raise(handle, all)));
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

  /** In one round trip; the owners are locked until the epochs that they got are read. */
  private static List<SessionId> raise(Handle handle, List<Wanted> all) throws SQLException {
    // In this order all lock owners, so that none wait in a circle.
    List<Wanted> sorted =
        all.stream().sorted(Comparator.comparing(one -> one.owner.encoded())).toList();
    List<String> names = OwnerTable.padded(all.stream().map(Wanted::owner).toList());
    Map<OwnerId, SessionId> raised = new HashMap<>();
    new Statements()
        .add("START TRANSACTION")
        .addUpdate(
            "INSERT INTO gameq_owner (owner, epoch, nonce, node, state, opened_at) VALUES "
                + String.join(", ", Collections.nCopies(sorted.size(), NEW_ROW))
                + " ON DUPLICATE KEY UPDATE"
                + KEEP_THE_LAST_OPEN
                + " epoch = GREATEST(epoch + 1, VALUES(epoch)), nonce = VALUES(nonce), node ="
                + " VALUES(node), state = 'opening', opened_at = VALUES(opened_at)",
            (statement, at) -> bind(statement, at, sorted),
            count -> true)
        .addSelect(
            "SELECT owner, epoch, nonce FROM gameq_owner WHERE owner IN ("
                + Sql.marks(names.size())
                + ")",
            (statement, at) -> Sql.bindTexts(statement, at, names),
            rs -> {
              while (rs.next()) {
                raised.put(
                    OwnerId.ofEncoded(rs.getString(1)),
                    new SessionId(rs.getLong(2), rs.getString(3)));
              }
              requireRaised(all, raised);
            })
        .runWithCommit(handle.getConnection());
    return all.stream().map(one -> raised(one, raised)).toList();
  }

  private static SessionId raised(Wanted wanted, Map<OwnerId, SessionId> raised) {
    return Objects.requireNonNull(raised.get(wanted.owner));
  }

  /** Else an owner was asked for twice in one group. */
  private static void requireRaised(List<Wanted> all, Map<OwnerId, SessionId> raised)
      throws SQLException {
    for (Wanted one : all) {
      SessionId session = raised.get(one.owner);
      if (session == null || !session.nonce().equals(one.nonce)) {
        throw new SQLException("MySQL did not tell the epoch of " + one.owner);
      }
    }
  }

  private static int bind(PreparedStatement statement, int at, List<Wanted> all)
      throws SQLException {
    int next = at;
    for (Wanted one : all) {
      statement.setString(next++, one.owner.encoded());
      statement.setLong(next++, one.atLeast);
      statement.setString(next++, one.nonce);
      statement.setString(next++, one.node);
    }
    return next;
  }
}

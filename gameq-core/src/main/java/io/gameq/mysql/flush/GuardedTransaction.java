package io.gameq.mysql.flush;

import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.RowBisection.RowRefusal;
import io.gameq.mysql.flush.RowBisection.StatementLimits;
import io.gameq.mysql.flush.RowBisection.TableRefusedException;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.term.Term;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The one transaction that writes rows, for flush, retry of dead letters and direct replay: it
 * locks the sessions of all owners first, writes guarded, sets refused rows aside, and commits or
 * leaves nothing behind. An open one is used by one thread.
 *
 * <pre>
 * run -> lock -> counts? -> write -> setAside -> commit
 *  ^       any failure, or no commit: rolled back    |
 *  +---- again, after a pause when others were met --+
 * </pre>
 */
public final class GuardedTransaction {
  private static final int MOST_WAIT_MILLIS_PER_TRY = 20;

  /** What gameq_owner has in place of a node's name. */
  private static final String FENCED_BY = "(message handled twice)";

  private final Connection connection;
  private final GuardedWrites writes;
  private Map<OwnerId, CountingSessions> sessions = Map.of();
  private boolean isCommitted;

  /** What is done in a transaction. */
  @FunctionalInterface
  public interface Body<T> {
    /**
     * One try: what it has not committed is rolled back.
     *
     * @return null for another try
     */
    @Nullable T attempt(GuardedTransaction transaction) throws SQLException;
  }

  /** Whether a try that failed is repeated. */
  public interface Retry {
    /**
     * Decides, when the try is rolled back.
     *
     * @param conflicts how many tries met the locks of others so far, this one included
     */
    boolean isDue(SQLException failure, int conflicts);

    /** After locks of others, until there were so many tries. */
    static Retry ofConflicts(int mostTries) {
      return (e, conflicts) -> ErrorKind.of(e) == ErrorKind.TRY_AGAIN && conflicts < mostTries;
    }
  }

  private GuardedTransaction(Connection connection, GuardedWrites writes) {
    this.connection = connection;
    this.writes = writes;
  }

  /**
   * Tries until there is a result.
   *
   * @param prepare called before each try, when no transaction is open
   * @throws NotConnectedException when MySQL gives no connection
   * @throws SQLException when a try failed that is not repeated: it was rolled back, or its COMMIT
   *     was lost
   */
  public static <T> T run(
      MySql mysql, GuardedWrites writes, Retry retry, Runnable prepare, Body<T> body)
      throws SQLException {
    int conflicts = 0;
    while (true) {
      prepare.run();
      try {
        T result = once(mysql, writes, body);
        if (result != null) {
          return result;
        }
      } catch (NotConnectedException e) {
        throw e;
      } catch (SQLException e) {
        boolean isConflict = ErrorKind.of(e) == ErrorKind.TRY_AGAIN;
        conflicts += isConflict ? 1 : 0;
        if (!retry.isDue(e, conflicts)) {
          throw e;
        }
        if (isConflict) {
          pauseAfter(conflicts);
        }
      }
    }
  }

  private static <T> @Nullable T once(MySql mysql, GuardedWrites writes, Body<T> body)
      throws SQLException {
    try (Connection connection = connect(mysql)) {
      try {
        connection.setAutoCommit(false);
        GuardedTransaction transaction = new GuardedTransaction(connection, writes);
        T result = body.attempt(transaction);
        if (!transaction.isCommitted) {
          connection.rollback();
        }
        return result;
      } catch (SQLException | RuntimeException e) {
        // A lock wait timeout rolled back one statement, not the transaction.
        rollBack(connection, e);
        if (e instanceof SQLException failure && leadsNowhere(failure)) {
          mysql.evict(connection);
        }
        throw e;
      }
    }
  }

  private static Connection connect(MySql mysql) throws NotConnectedException {
    try {
      return mysql.connection();
    } catch (SQLException e) {
      throw new NotConnectedException(e);
    }
  }

  /** The server is away, or is one that lacks gameq's own tables. */
  private static boolean leadsNowhere(SQLException e) {
    ErrorKind kind = ErrorKind.of(e);
    return kind == ErrorKind.OUTAGE
        || (kind == ErrorKind.SCHEMA && !(e instanceof TableRefusedException));
  }

  private static void rollBack(Connection connection, Exception because) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      because.addSuppressed(e);
    }
  }

  /** A random time: two transactions that met in a deadlock must not meet again at once. */
  private static void pauseAfter(int tries) {
    LockSupport.parkNanos(
        TimeUnit.MILLISECONDS.toNanos(
            1 + ThreadLocalRandom.current().nextInt(tries * MOST_WAIT_MILLIS_PER_TRY)));
  }

  /** For what only one caller does; it neither commits nor closes it. */
  public Connection connection() {
    return connection;
  }

  /**
   * Locks the sessions of owners, to be done before anything else. Of an inbox its owner is locked:
   * so a row that was sent never comes back beside the flush that deletes it.
   */
  public void lock(Collection<OwnerId> owners) throws SQLException {
    lock(owners, Term.NOT_KNOWN);
  }

  /**
   * The same of rows that were claimed from Redis.
   *
   * @throws io.gameq.term.Term.TermMovedException when the primary of this term does not count any
   *     more
   */
  void lock(Collection<OwnerId> owners, long term) throws SQLException {
    sessions =
        OwnerTable.lock(connection, owners.stream().map(OwnerId::base).distinct().toList(), term);
    List<OwnerId> neverOpened =
        owners.stream()
            .filter(owner -> owner.isInbox() && !sessions.containsKey(owner.base()))
            .map(OwnerId::base)
            .distinct()
            .toList();
    if (!neverOpened.isEmpty()) {
      OwnerTable.addNeverOpened(connection, neverOpened);
      sessions.putAll(OwnerTable.lock(connection, neverOpened, term)); // compares the term, too
    }
  }

  /** Whether this session of an owner that is locked may write. */
  public boolean counts(OwnerId owner, SessionId session) {
    return CountingSessions.counts(sessions.get(owner), session);
  }

  /**
   * Ends the session of an owner that is locked, as an open would that nobody asked for: what it
   * committed is never written, and its node is told that it lost the owner. Returns the session
   * that counts instead, once this is committed.
   */
  public SessionId fence(OwnerId owner) throws SQLException {
    CountingSessions of = Objects.requireNonNull(sessions.get(owner));
    SessionId nobody =
        new SessionId(
            of.newest().epoch() + 1, "%016x".formatted(ThreadLocalRandom.current().nextLong()));
    OwnerTable.fence(connection, owner, nobody, FENCED_BY);
    return nobody;
  }

  /** As {@link GuardedWrites#write}, of owners that are locked. */
  public List<RowRefusal> write(
      Collection<RowChange> rows, Set<ErrorKind> kinds, StatementLimits limits)
      throws SQLException {
    return writes.write(connection, rows, sessions, kinds, limits);
  }

  /** Ends it; when this throws, nobody knows whether it passed. */
  public void commit() throws SQLException {
    connection.commit();
    isCommitted = true;
  }

  /** MySQL gave no connection: no transaction was begun, whatever the reason. */
  static final class NotConnectedException extends SQLException {
    private static final long serialVersionUID = 1L;

    NotConnectedException(SQLException cause) {
      super(cause.getMessage(), cause.getSQLState(), cause.getErrorCode(), cause);
    }
  }
}

package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.MySqlErrors.MySqlText;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.GuardedTransaction;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.mysql.flush.RowBisection.RowRefusal;
import io.gameq.mysql.flush.RowBisection.StatementLimits;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.owner.OwnerId;
import io.gameq.rows.RowHeader;
import io.gameq.topic.DeadLetter;
import io.gameq.writer.mysql.StoredRowDecoder.DecodeError;
import io.gameq.writer.mysql.StoredRowDecoder.DecodeResult;
import io.gameq.writer.mysql.StoredRowDecoder.DecodedRow;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes the row of a dead letter after all, one transaction for each, as guarded as a flush: a
 * newer row stays, a deleted one stays deleted. Thread-safe; killed anywhere, a letter is either
 * there or its row is written.
 */
public final class DeadLetterRetry {
  /** A lock is waited for innodb_lock_wait_timeout each time. */
  private static final int MOST_TRIES = 3;

  /** Who sent it is not remembered. */
  private static final String NO_PROCESS = "00000000";

  private final MySql mysql;
  private final GuardedWrites writes;
  private final StoredRowDecoder rows;
  private final boolean dryRun;

  /** What became of a letter. */
  public sealed interface Outcome {}

  /** The row is in MySQL, the letter is removed. */
  public record Written() implements Outcome {}

  /** MySQL holds this version of the row or a newer one; the letter is removed. */
  public record Superseded() implements Outcome {}

  /**
   * The letter stays, with this error.
   *
   * @param curable another row may make it fit
   */
  public record Refused(int errorCode, String reason, boolean curable) implements Outcome {}

  /** Somebody holds a lock for long; nothing was changed. */
  public record Locked(String reason) implements Outcome {}

  /** Somebody else removed the letter. */
  public record Gone() implements Outcome {}

  DeadLetterRetry(MySql mysql, StoredRowDecoder rows, boolean dryRun) {
    this.mysql = mysql;
    this.writes = GuardedWrites.on(mysql);
    this.rows = rows;
    this.dryRun = dryRun;
  }

  /**
   * Tries a letter; in a dry run everything is rolled back.
   *
   * @throws MySqlException when MySQL does not answer; the letter was tried as a whole or not at
   *     all
   */
  public Outcome retry(long id) {
    try {
      return GuardedTransaction.run(
          mysql,
          writes,
          GuardedTransaction.Retry.ofConflicts(MOST_TRIES),
          () -> {},
          transaction -> retry(transaction, id));
    } catch (SQLException e) {
      if (ErrorKind.of(e) != ErrorKind.TRY_AGAIN) {
        throw new MySqlException("MySQL does not answer as it should: " + MySqlText.of(e), e);
      }
      return new Locked(MySqlText.of(e));
    }
  }

  private Outcome retry(GuardedTransaction transaction, long id) throws SQLException {
    Stored letter = lock(transaction, id);
    if (letter == null) {
      return new Gone();
    }
    Outcome outcome = write(transaction, letter);
    if (dryRun) {
      return outcome;
    }
    if (outcome instanceof Refused refused) {
      transaction.connection().rollback();
      DeadLetters.refusedAgain(
          transaction.connection(), letter, refused.errorCode(), refused.reason());
    }
    transaction.commit();
    return outcome;
  }

  /**
   * The letter as it is once the owners' rows are locked, as every flush of them locks them; null
   * when it is gone.
   */
  private static @Nullable Stored lock(GuardedTransaction transaction, long id)
      throws SQLException {
    Stored before = DeadLetters.find(transaction.connection(), id);
    if (before == null) {
      return null;
    }
    transaction.lock(owners(before));
    Stored locked = DeadLetters.find(transaction.connection(), id);
    if (locked == null) {
      return null;
    }
    return owners(locked).equals(owners(before)) ? locked : lock(transaction, id);
  }

  /** Its owner, and those that its row was received from or given to. */
  private static Set<OwnerId> owners(Stored letter) {
    Set<OwnerId> owners = new HashSet<>();
    owners.add(letter.refused().owner());
    try {
      RowHeader.handovers(letter.refused().image())
          .forEach(handover -> owners.add(handover.other()));
    } catch (GameQueueException e) {
      return owners; // damaged: it is not written anyway
    }
    return owners;
  }

  private Outcome write(GuardedTransaction transaction, Stored letter) throws SQLException {
    Connection connection = transaction.connection();
    DeadLetterTable.Refused row = letter.refused();
    DecodeResult reading = rows.read(row.key(), row.image());
    if (!(reading instanceof DecodedRow decoded)) {
      return new Refused(0, ((DecodeError) reading).reason(), false);
    }
    long there =
        OwnerReader.versions(connection, List.of(decoded.key())).getOrDefault(decoded.key(), -1L);
    if (there < row.version()) {
      RowChange change = new RowChange(owner(row), decoded.key(), decoded.image(), row.image());
      Refused refused = write(transaction, change);
      if (refused != null) {
        return refused;
      }
    }
    if (!DeadLetters.remove(connection, letter)) { // another retry, or a newer version
      throw new SQLTransactionRollbackException("it changes all the time", "40001");
    }
    return there < row.version() ? new Written() : new Superseded();
  }

  /** What was sent is as new as ever: it is not written over the row that has its key. */
  private static OwnerId owner(DeadLetterTable.Refused row) {
    return row.errorCode() == DeadLetter.KEY_IN_USE ? row.owner().inbox(NO_PROCESS) : row.owner();
  }

  /** Null when the row was written. */
  private static @Nullable Refused write(GuardedTransaction transaction, RowChange change)
      throws SQLException {
    try {
      List<RowRefusal> refusals =
          transaction.write(
              List.of(change), Set.of(ErrorKind.ROW, ErrorKind.CURABLE), StatementLimits.NONE);
      return refusals.isEmpty() ? null : refused(refusals.get(0).error());
    } catch (SQLException e) {
      ErrorKind kind = ErrorKind.of(e);
      if (kind == ErrorKind.TRY_AGAIN || kind == ErrorKind.OUTAGE) {
        throw e;
      }
      return refused(e);
    }
  }

  private static Refused refused(SQLException e) {
    return new Refused(e.getErrorCode(), MySqlText.of(e), ErrorKind.of(e) == ErrorKind.CURABLE);
  }
}

package io.gameq.mysql;

import com.mysql.cj.jdbc.exceptions.PacketTooBigException;
import io.gameq.owner.OwnerId;
import io.gameq.topic.DeadLetter;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What helps against an error of MySQL. Numbers: server error references of MySQL 9 and MariaDB 11.
 */
public enum ErrorKind {
  /** MySQL is away, read-only, full or has no room: wait. Nothing about the rows. */
  OUTAGE,
  /** A deadlock, a lock held for long: the same transaction may pass at once. */
  TRY_AGAIN,
  /** A statement took longer than it may: some of its rows can hold up all others. */
  SLOW,
  /** A table or column is missing or closed to us: wait for that table only. */
  SCHEMA,
  /** A row is refused because of another row, which another flush may change. */
  CURABLE,
  /** A row is refused, whatever happens elsewhere. */
  ROW,
  /** Not known to gameq. Whether the transaction still stands is not known either. */
  UNKNOWN;

  private static final Set<ErrorKind> MAY_PASS = EnumSet.of(OUTAGE, TRY_AGAIN, SLOW);

  /** Lock wait timeout, deadlock, NOWAIT, changed since read, table altered meanwhile (two). */
  private static final Set<Integer> TRY_AGAIN_CODES = Set.of(1205, 1213, 3572, 1020, 1412, 1615);

  /**
   * Too many connections, shutdown, read-only, offline, kill, login, resource limits, disk or lock
   * table full, unknown database.
   */
  private static final Set<Integer> OUTAGE_CODES =
      Set.of(
          1040, 1053, 1290, 1836, 1927, 1044, 1045, 1049, 1203, 1226, 1021, 1114, 1298, 3168, 1792,
          1180, 1030, 1206, 3100, 1637, 1041, 1037, 1129, 1130, 4031, 3032);

  /**
   * Ended by KILL QUERY, as the driver does when its timeout is over, by MySQL's
   * max_execution_time, or by MariaDB's max_statement_time.
   */
  private static final Set<Integer> SLOW_CODES = Set.of(1317, 3024, 1969);

  /**
   * No such table or column, another number of columns, a new column without default, denied,
   * crashed, read-only table, tablespace missing, invalid view or definer of a trigger.
   */
  private static final Set<Integer> SCHEMA_CODES =
      Set.of(
          1146, 1054, 1136, 1364, 1142, 1143, 1194, 1195, 1034, 1036, 1812, 1813, 1932, 1356, 1449);

  /** Duplicate in a unique key (two), foreign key parent or child (four). */
  private static final Set<Integer> CURABLE_CODES = Set.of(1062, 1586, 1451, 1452, 1216, 1217);

  /**
   * Those whose SQLSTATE does not say so: wrong value, CHECK, data truncated, bad string, row too
   * long, no partition (two), stack overrun.
   */
  private static final Set<Integer> ROW_CODES =
      Set.of(1366, 3819, 4025, 1265, 1300, 1118, 1526, 1748, 1436);

  /** Whether a statement failed, somewhere below this, since the schema is another one. */
  public static boolean isOfSchema(@Nullable Throwable e) {
    return isBelow(e, sql -> of(sql) == SCHEMA);
  }

  /** Whether something failed, somewhere below this, that may pass by itself: wait. */
  public static boolean mayPass(@Nullable Throwable e) {
    return isBelow(e, sql -> MAY_PASS.contains(of(sql)));
  }

  /** Whether this is true of the first error of MySQL, somewhere below. */
  static boolean isBelow(@Nullable Throwable e, Predicate<SQLException> what) {
    return e != null
        && (e instanceof SQLException sql ? what.test(sql) : isBelow(e.getCause(), what));
  }

  /** The kind of an error that a statement threw. */
  public static ErrorKind of(SQLException e) {
    int code = e.getErrorCode();
    String state = e.getSQLState() == null ? "" : e.getSQLState();
    if (e instanceof NotOwnerException refused) {
      return refused.isPending() ? CURABLE : ROW;
    }
    if (e instanceof SQLTimeoutException || SLOW_CODES.contains(code)) {
      return SLOW;
    }
    if (e instanceof PacketTooBigException) { // looks like a lost connection, and is not
      return ROW;
    }
    if (TRY_AGAIN_CODES.contains(code) || state.startsWith("40")) { // 40: rolled back as a whole
      return TRY_AGAIN;
    }
    if (OUTAGE_CODES.contains(code)
        || state.startsWith("08")
        || e instanceof SQLNonTransientConnectionException
        || e instanceof SQLTransientConnectionException
        || e instanceof SQLRecoverableException) {
      return OUTAGE;
    }
    if (SCHEMA_CODES.contains(code)) {
      return SCHEMA;
    }
    if (CURABLE_CODES.contains(code)) {
      return CURABLE;
    }
    // 22 data exception, 23 integrity, 45 SIGNAL of a trigger
    return ROW_CODES.contains(code) || state.matches("(22|23|45).*") ? ROW : UNKNOWN;
  }

  /** A row that gameq refuses to write, since MySQL says that it is another owner's. */
  public static final class NotOwnerException extends SQLException {
    private static final long serialVersionUID = 1L;

    private final transient Set<OwnerId> awaited;

    private NotOwnerException(String message, int errorCode, Set<OwnerId> awaited) {
      super(message, "45000", errorCode);
      this.awaited = awaited;
    }

    public static NotOwnerException of(RowChange row, String owner) {
      return new NotOwnerException(
          "%s: the row belongs to %s, not to %s: only a move by its owner brings it here"
              .formatted(row.key(), owner, row.owner()),
          DeadLetter.NOT_OWNER,
          Set.of());
    }

    /** A row that was sent under a key that is in use. */
    public static NotOwnerException keyInUse(RowChange row) {
      return new NotOwnerException(
          "%s: there is a row with this key already, and what is sent to %s needs a new key"
              .formatted(row.key(), row.owner().base()),
          DeadLetter.KEY_IN_USE,
          Set.of());
    }

    public static NotOwnerException pending(RowChange row, Set<OwnerId> awaited, String why) {
      return new NotOwnerException(row.key() + ": " + why, DeadLetter.NOT_OWNER, awaited);
    }

    /**
     * The owners whose flush may yet make the row this one's, with their halves of the handovers
     * that it tells of; empty when it tells of none.
     */
    public Set<OwnerId> awaited() {
      return awaited;
    }

    /** Whether there are such owners. */
    public boolean isPending() {
      return !awaited.isEmpty();
    }
  }
}

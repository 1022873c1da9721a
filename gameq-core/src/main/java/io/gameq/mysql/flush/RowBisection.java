package io.gameq.mysql.flush;

import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.ErrorKind.NotOwnerException;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySqlErrors.MySqlText;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table;
import io.gameq.rows.Table.Column;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes the statements of one transaction; when MySQL refuses one, its halves, down to the rows
 * that it refuses: InnoDB rolls back a refused statement, not the transaction. Used by one thread.
 */
public final class RowBisection {
  static final int DUPLICATE = 1062;

  private static final int MOST_ONE_BY_ONE = 64;

  /** No such table or column, another number of columns: in what a trigger does, too. */
  private static final Set<Integer> MAY_BE_OF_TRIGGER = Set.of(1146, 1054, 1136);

  /** Each takes seconds, in which the owner is locked. */
  private static final int MOST_SLOW_ROWS = 2;

  private static final Logger LOG = LoggerFactory.getLogger(RowBisection.class);

  /** Something that is done whole or not at all. */
  interface Attempt {
    boolean succeeds() throws SQLException;
  }

  /** A statement over some rows of one table. */
  interface Statement {
    void execute(List<RowChange> rows) throws SQLException;
  }

  final Connection connection;
  private final Set<ErrorKind> kinds;
  final StatementLimits limits;

  /** What is refused so far; who repeats a row takes it out. */
  final List<RowRefusal> refused;

  private final List<RowRefusal> slow = new ArrayList<>();
  private final Map<Table, Boolean> takeRows = new HashMap<>();

  /**
   * A search.
   *
   * @param kinds errors that are taken for a row's, {@link ErrorKind#SCHEMA} where a trigger failed
   *     alone; others are thrown
   * @param refused what is refused already
   */
  RowBisection(
      Connection connection,
      Set<ErrorKind> kinds,
      StatementLimits limits,
      Collection<RowRefusal> refused) {
    this.connection = connection;
    this.kinds = kinds;
    this.limits = limits;
    this.refused = new ArrayList<>(refused);
  }

  /** Goes back to where it was, with what was refused then, unless the attempt succeeds. */
  boolean allOrNone(Attempt attempt) throws SQLException {
    List<RowRefusal> refusedBefore = List.copyOf(refused);
    Savepoint before = connection.setSavepoint();
    try {
      if (attempt.succeeds()) {
        connection.releaseSavepoint(before);
        return true;
      }
    } catch (SQLException e) {
      if (!kinds.contains(ErrorKind.of(e))
          || e instanceof ManySlowRowsException
          || e instanceof TableRefusedException) {
        throw e;
      }
    } catch (RuntimeException e) { // a value that cannot be bound or read
      LOG.warn("rows that depend on each other are taken as refused", e);
    }
    connection.rollback(before);
    refused.clear();
    refused.addAll(refusedBefore);
    slow.retainAll(refusedBefore);
    return false;
  }

  /**
   * Executes a statement; when MySQL refuses it, its halves, down to the rows that it refuses.
   *
   * @throws TableRefusedException when the table takes none of them
   */
  void execute(Table table, List<RowChange> rows, Statement statement) throws SQLException {
    int before = refused.size();
    halve(table, rows, statement);
    List<RowRefusal> these = refused.subList(before, refused.size());
    if (rows.size() > 1
        && these.size() == rows.size()
        && these.stream().allMatch(of -> ErrorKind.of(of.error()) == ErrorKind.SCHEMA)) {
      throw new TableRefusedException(table, these.get(0).error());
    }
  }

  private void halve(Table table, List<RowChange> rows, Statement statement) throws SQLException {
    try {
      executeOnce(rows, statement);
    } catch (SQLException e) {
      if (ErrorKind.of(e) == ErrorKind.SCHEMA) {
        if (!kinds.contains(ErrorKind.SCHEMA)
            || !MAY_BE_OF_TRIGGER.contains(e.getErrorCode())
            || !takesRows(table)) {
          throw new TableRefusedException(table, e);
        }
      } else if (!kinds.contains(ErrorKind.of(e))) {
        throw e;
      }
      boolean isSlow = ErrorKind.of(e) == ErrorKind.SLOW;
      if (isSlow && slow.size() == MOST_SLOW_ROWS) {
        throw new ManySlowRowsException(slow, e);
      }
      if (rows.size() == 1) {
        RowChange row = rows.get(0);
        RowRefusal refusal = new RowRefusal(row, reason(row, e));
        refused.add(refusal);
        if (isSlow) {
          slow.add(refusal);
        }
        return;
      }
      // A slow row costs the whole timeout in every statement that has it; rows that are not slow
      // cost little alone.
      boolean oneByOne = isSlow && rows.size() <= MOST_ONE_BY_ONE;
      int part = oneByOne ? 1 : (rows.size() + 1) / 2;
      for (int from = 0; from < rows.size(); from += part) {
        halve(table, rows.subList(from, Math.min(rows.size(), from + part)), statement);
      }
    }
  }

  /** Whether the table takes a statement of no rows: then a trigger failed, of some rows. */
  private boolean takesRows(Table table) throws SQLException {
    Boolean known = takeRows.get(table);
    if (known == null) {
      String columns =
          Stream.concat(table.columns().stream().map(Column::name), Stream.of(Table.VERSION_COLUMN))
              .map(JdbcValues::quoted)
              .collect(Collectors.joining(", "));
      String name = JdbcValues.quoted(table.name());
      try (java.sql.Statement probe = connection.createStatement()) {
        probe.executeUpdate(
            "INSERT INTO %s (%s) SELECT %s FROM %s WHERE FALSE"
                .formatted(name, columns, columns, name));
        known = true;
      } catch (SQLException e) {
        if (ErrorKind.of(e) != ErrorKind.SCHEMA) {
          throw e;
        }
        known = false;
      }
      takeRows.put(table, known);
    }
    return known;
  }

  private SQLException reason(RowChange row, SQLException e) {
    if (UpsertSql.isOfAnotherOwner(e)) {
      return NotOwnerException.of(row, "another owner");
    }
    return ErrorKind.of(e) == ErrorKind.SLOW
        ? new SQLTimeoutException(
            "it takes MySQL longer than %s s, as a slow trigger does: %s"
                .formatted(limits.secondsOfOneRow(), e.getMessage()),
            e.getSQLState(),
            e.getErrorCode(),
            e)
        : e;
  }

  private void executeOnce(List<RowChange> rows, Statement statement) throws SQLException {
    try {
      statement.execute(rows);
    } catch (RuntimeException e) { // a value that cannot be bound
      throw new SQLException("a value cannot be bound: " + e.getClass().getSimpleName(), e);
    }
  }

  List<RowChange> notRefused(List<RowChange> rows) {
    if (refused.isEmpty()) {
      return rows;
    }
    Set<RowChange> those = refused.stream().map(RowRefusal::row).collect(Collectors.toSet());
    return rows.stream().filter(row -> !those.contains(row)).toList();
  }

  /** Takes the rows that another row may have stood in the way of out of those refused. */
  List<RowChange> takeCurable() {
    List<RowChange> rows = new ArrayList<>();
    refused.removeIf(
        refusal ->
            ErrorKind.of(refusal.error()) == ErrorKind.CURABLE
                && !(refusal.error() instanceof NotOwnerException)
                && rows.add(refusal.row()));
    return rows;
  }

  /** Takes the refusals for a duplicate, from the given one on, out of those that stand. */
  List<RowRefusal> takeDuplicates(int from) {
    List<RowRefusal> since = refused.subList(from, refused.size());
    List<RowRefusal> duplicates = new ArrayList<>();
    since.removeIf(refusal -> isDuplicate(refusal) && duplicates.add(refusal));
    return duplicates;
  }

  private static boolean isDuplicate(RowRefusal refusal) {
    return refusal.error().getErrorCode() == DUPLICATE;
  }

  /** More rows take MySQL long than one transaction searches for. */
  static final class ManySlowRowsException extends SQLTimeoutException {
    private static final long serialVersionUID = 1L;

    private final transient List<RowRefusal> rows;

    ManySlowRowsException(List<RowRefusal> rows, SQLException cause) {
      super(cause.getMessage(), cause.getSQLState(), cause.getErrorCode(), cause);
      this.rows = rows;
    }

    /** Those that were found. */
    public List<RowRefusal> rows() {
      return rows;
    }
  }

  /** A row that MySQL refused inside a transaction that goes on without it. */
  public record RowRefusal(RowChange row, SQLException error) {
    /** Whether another flush can make MySQL take the row. */
    public boolean isCurable() {
      return ErrorKind.of(error) != ErrorKind.ROW;
    }

    /** The row as a dead letter; {@code attempts} is how often it was tried. */
    public DeadLetterTable.Refused asLetter(int attempts) {
      return new DeadLetterTable.Refused(
          row.owner().base(),
          row.key().table().name(),
          row.key().keyText(),
          row.image().version(),
          row.encoded(),
          attempts,
          error.getErrorCode(),
          MySqlText.of(error));
    }

    /**
     * Rows of which MySQL holds a newer version, or a newer delete, have nothing to be set aside.
     */
    public static List<RowRefusal> withoutOutdated(Connection connection, List<RowRefusal> refusals)
        throws SQLException {
      if (refusals.isEmpty()) {
        return refusals;
      }
      Map<RowKey, Long> there =
          OwnerReader.versions(connection, refusals.stream().map(r -> r.row().key()).toList());
      return refusals.stream()
          .filter(r -> there.getOrDefault(r.row().key(), -1L) < r.row().image().version())
          .toList();
    }
  }

  /**
   * How large statements are, and how long they may take; immutable.
   *
   * @param rows most rows of one statement
   * @param bytes most bytes of the rows of one statement that has more than one; what it takes to
   *     send them counts as its time
   * @param seconds that a statement may take, else it is ended and fails as {@link ErrorKind#SLOW};
   *     0 for no limit
   * @param secondsOfOneRow the same of a statement with a single row
   */
  public record StatementLimits(int rows, int bytes, int seconds, int secondsOfOneRow) {
    /** 5,000 rows a statement gain nothing over 1,000. */
    private static final int MOST_ROWS = 512;

    /** Larger statements gain nothing. */
    private static final int MOST_BYTES = 4 << 20;

    public static final StatementLimits NONE = new StatementLimits(MOST_ROWS, MOST_BYTES, 0, 0);

    public StatementLimits withSecondsOfOneRow(int newSeconds) {
      return new StatementLimits(rows, bytes, seconds, newSeconds);
    }

    public int secondsFor(int rowsOfStatement) {
      return rowsOfStatement == 1 ? secondsOfOneRow : seconds;
    }
  }

  /** A table that takes no rows now, because it or a column is missing or closed to us. */
  public static final class TableRefusedException extends SQLException {
    private static final long serialVersionUID = 1L;

    private final transient Table table;

    TableRefusedException(Table table, SQLException cause) {
      super(cause.getMessage(), cause.getSQLState(), cause.getErrorCode(), cause);
      this.table = table;
    }

    public Table table() {
      return table;
    }
  }
}

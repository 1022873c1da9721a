package io.gameq.mysql;

import io.gameq.RowRefusedException;
import io.gameq.mysql.MySqlPool.MySqlText;
import io.gameq.rows.Table.Column;
import io.gameq.rows.types.ColumnType;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Statements that go to MySQL together and are answered in one round trip; each is done when the
 * one before it is, and none after one that fails. One thread.
 */
public final class Statements {
  private static final Logger LOG = LoggerFactory.getLogger(Statements.class);

  /** Keeps a packet small: each may have some hundred parameters. */
  private static final int MOST_TOGETHER = 64;

  private static final Parameters NONE = (statement, at) -> at;

  private final List<Part> parts = new ArrayList<>();

  /** Sets the parameters of one statement from index {@code at} on; returns the next index. */
  @FunctionalInterface
  public interface Parameters {
    int set(PreparedStatement statement, int at) throws SQLException;
  }

  /** Takes what one SELECT found: all rows, from before the first. */
  @FunctionalInterface
  public interface Found {
    void rows(ResultSet rs) throws SQLException;
  }

  private record Part(String sql, Parameters parameters, Found found, IntPredicate goesOn) {}

  /** Adds a statement whose answer nobody needs. */
  public Statements add(String sql) {
    return addUpdate(sql, NONE, count -> true);
  }

  /** Adds a SELECT. */
  public Statements addSelect(String sql, Parameters parameters, Found found) {
    parts.add(new Part(sql, parameters, found, count -> true));
    return this;
  }

  /**
   * Adds a statement that writes.
   *
   * @param goesOn asked with the number of rows that it found: false to look at no answer after it
   */
  public Statements addUpdate(String sql, Parameters parameters, IntPredicate goesOn) {
    parts.add(new Part(sql, parameters, rs -> {}, goesOn));
    return this;
  }

  /**
   * Runs all of them, some dozens at a time. Returns false when an update said to go no further;
   * the statements behind it may have run.
   *
   * @throws SQLException what the first that failed threw; those before it have run
   */
  public boolean run(Connection connection) throws SQLException {
    for (List<Part> some : Sql.chunks(parts, MOST_TOGETHER)) {
      if (!run(connection, some)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Runs all of them, of which the first begins a transaction, and commits it. Returns false, and
   * rolls back, when an update said to go no further.
   *
   * @throws SQLException what the first that failed threw, or what took an answer; it is rolled
   *     back
   */
  public boolean runAndCommit(Connection connection) throws SQLException {
    return orRollBack(
        connection,
        () -> {
          boolean isDone = run(connection);
          if (isDone) {
            execute(connection, "COMMIT");
          }
          return isDone;
        });
  }

  /**
   * Runs all of them, of which the first begins a transaction, with the COMMIT behind the last: in
   * one round trip, where no answer decides whether to go on.
   *
   * @throws SQLException what the first that failed threw; it is rolled back. What takes an answer
   *     may throw when all is committed
   */
  public void runWithCommit(Connection connection) throws SQLException {
    add("COMMIT");
    boolean unused = orRollBack(connection, () -> run(connection));
  }

  /** Runs statements on a connection; false to roll back. */
  private interface Run {
    boolean run() throws SQLException;
  }

  private static boolean orRollBack(Connection connection, Run statements) throws SQLException {
    boolean isDone = false;
    try {
      isDone = statements.run();
      return isDone;
    } finally {
      if (!isDone) {
        rollBack(connection);
      }
    }
  }

  /** Where that fails the connection broke, and the pool has seen it. */
  private static void rollBack(Connection connection) {
    try {
      execute(connection, "ROLLBACK");
    } catch (SQLException e) {
      LOG.debug("not rolled back: {}", MySqlText.of(e));
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static boolean run(Connection connection, List<Part> some) throws SQLException {
    String sql = some.stream().map(Part::sql).collect(Collectors.joining("; "));
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      int at = 1;
      for (Part part : some) {
        at = part.parameters.set(statement, at);
      }
      boolean hasRows = statement.execute();
      for (Part part : some) {
        if (hasRows) {
          try (ResultSet rs = statement.getResultSet()) {
            part.found.rows(rs);
          }
        } else if (!part.goesOn.test(statement.getUpdateCount())) {
          return false;
        }
        hasRows = statement.getMoreResults();
      }
      return true;
    }
  }

  /** Values for a moment within a transaction, which other rows are unlikely to have. Stateless. */
  public static final class SpareValues {
    private static final Set<ColumnType.Kind> KINDS =
        EnumSet.of(ColumnType.Kind.INTEGER, ColumnType.Kind.TEXT);

    private static final String CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final int MOST_CHARACTERS = 32;
    private static final int MOST_BITS = Long.SIZE - 3;

    private SpareValues() {}

    /** Whether there are any for a column. */
    public static boolean exist(Column column) {
      return column.nullable() || KINDS.contains(column.type().kind());
    }

    /** A canonical value: NULL where that may be, else one of many that the column can hold. */
    public static @Nullable Object next(Column column, Random random) {
      if (column.nullable()) {
        return null;
      }
      boolean isText = column.type().kind() == ColumnType.Kind.TEXT;
      for (int size = isText ? MOST_CHARACTERS : MOST_BITS; size > 0; size--) {
        try {
          Object value = isText ? text(size, random) : random.nextLong(1L << size, 2L << size);
          return column.type().canonical(value, column.label());
        } catch (RowRefusedException e) {
          // too large for the column
        }
      }
      throw new IllegalStateException("no spare value for " + column.label());
    }

    private static String text(int length, Random random) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < length; i++) {
        text.append(CHARACTERS.charAt(random.nextInt(CHARACTERS.length())));
      }
      return text.toString();
    }
  }
}

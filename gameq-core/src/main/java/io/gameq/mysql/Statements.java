package io.gameq.mysql;

import io.gameq.mysql.MySqlErrors.MySqlText;
import io.gameq.mysql.Sql.Row;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
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

  private final List<Part> parts = new ArrayList<>();

  /** {@code found} takes all rows of a SELECT, from before the first. */
  private record Part(String sql, @Nullable Object[] arguments, Row found, IntPredicate goesOn) {}

  /** Adds a statement whose answer nobody needs. */
  public Statements add(String sql, @Nullable Object... arguments) {
    return addUpdate(sql, count -> true, arguments);
  }

  /** Adds a SELECT, each row of which is handed over. */
  public Statements addSelect(String sql, Row row, @Nullable Object... arguments) {
    Row all =
        rs -> {
          while (rs.next()) {
            row.take(rs);
          }
        };
    parts.add(new Part(sql, arguments, all, count -> true));
    return this;
  }

  /** Adds a SELECT that finds one row; {@link #run} throws when it finds none. */
  public Statements addSelectOne(String sql, Row row) {
    Row first =
        rs -> {
          rs.next();
          row.take(rs);
        };
    parts.add(new Part(sql, new Object[0], first, count -> true));
    return this;
  }

  /**
   * Adds a statement that writes.
   *
   * @param goesOn asked with the number of rows that it found: false to look at no answer after it
   */
  public Statements addUpdate(String sql, IntPredicate goesOn, @Nullable Object... arguments) {
    parts.add(new Part(sql, arguments, rs -> {}, goesOn));
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
    boolean isDone = false;
    try {
      if (run(connection)) {
        execute(connection, "COMMIT");
        isDone = true;
      }
      return isDone;
    } finally {
      if (!isDone) {
        rollBack(connection);
      }
    }
  }

  /**
   * Runs all of them, of which the first begins a transaction, with the COMMIT behind the last: in
   * one round trip, where no answer decides whether to go on.
   *
   * @throws SQLException what the first that failed threw; it is rolled back. What takes an answer
   *     may throw when all is committed
   */
  public void runWithCommit(Connection connection) throws SQLException {
    boolean isDone = false;
    try {
      isDone = add("COMMIT").run(connection);
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
        at = Sql.bind(statement, at, part.arguments);
      }
      boolean hasRows = statement.execute();
      for (Part part : some) {
        if (hasRows) {
          try (ResultSet rs = statement.getResultSet()) {
            part.found.take(rs);
          }
        } else if (!part.goesOn.test(statement.getUpdateCount())) {
          return false;
        }
        hasRows = statement.getMoreResults();
      }
      return true;
    }
  }
}

package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.owner.OwnerId;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds owners by a text in their rows, such as a player's name. An index finds the rows: no table
 * is read whole, and no search takes longer than 2 s. Immutable.
 */
public final class ColumnSearch {
  private static final int MOST_SECONDS = 2;

  /** How MySQL finds rows by an index: all else reads a table or an index whole. */
  private static final Set<String> BY_INDEX =
      Set.of("const", "eq_ref", "ref", "ref_or_null", "range");

  private static final long FEW_ROWS = 1_000;

  private final MySql mysql;
  private final Catalog catalog;

  /** Reads the catalogue. */
  public ColumnSearch(MySql mysql) {
    this.mysql = mysql;
    this.catalog = CatalogReader.read(mysql);
  }

  /** A column of text that an index begins with. */
  public record TextColumn(String table, String column, String index) {}

  /**
   * What was found.
   *
   * @param isAll whether no other row has the text
   */
  public record OwnerMatches(Set<OwnerId> owners, boolean isAll) {}

  /** The columns of managed tables by which rows can be found. */
  public List<TextColumn> columns() {
    return mysql.ask(
        handle ->
            handle
                .createQuery(
                    "SELECT TABLE_NAME, COLUMN_NAME, MIN(INDEX_NAME) FROM"
                        + " information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND"
                        + " SEQ_IN_INDEX = 1 AND INDEX_TYPE = 'BTREE' AND COLUMN_NAME IS NOT NULL"
                        + " AND TABLE_NAME NOT LIKE 'gameq|_%' ESCAPE '|'"
                        + " GROUP BY TABLE_NAME, COLUMN_NAME ORDER BY TABLE_NAME, COLUMN_NAME")
                .map(
                    (rs, context) ->
                        new TextColumn(rs.getString(1), rs.getString(2), rs.getString(3)))
                .filter(this::isText)
                .list());
  }

  private boolean isText(TextColumn of) {
    if (!catalog.manages(of.table())) {
      return false;
    }
    Table table = catalog.table(of.table());
    return table.has(of.column()) && table.column(of.column()).type().isText();
  }

  /**
   * Owners of rows in which a column is a text, as its collation compares, or begins with it.
   *
   * @param most rows to read
   * @throws GameQueueException when no index finds them, or that takes too long
   */
  public OwnerMatches owners(
      String table, String column, String text, boolean isBeginning, int most) {
    TextColumn by =
        columns().stream()
            .filter(of -> of.table().equals(table) && of.column().equals(column))
            .findFirst()
            .orElseThrow(
                () ->
                    new GameQueueException(
                        "%s.%s is no column of text that an index of a managed table begins with"
                            .formatted(table, column)));
    Table of = catalog.table(table);
    String sql =
        "SELECT %s FROM %s FORCE INDEX (%s) WHERE %s %s LIMIT %s"
            .formatted(
                JdbcValues.selectExpression(of.ownerColumn()),
                JdbcValues.quoted(table),
                JdbcValues.quoted(by.index()),
                JdbcValues.quoted(column),
                isBeginning ? "LIKE ? ESCAPE '|'" : "= ?",
                most);
    String wanted = isBeginning ? text.replaceAll("[|%_]", "|$0") + "%" : text;
    return mysql.ask(handle -> find(handle.getConnection(), of, sql, wanted, most));
  }

  private static OwnerMatches find(
      Connection connection, Table table, String sql, String wanted, int most) throws SQLException {
    requireIndex(connection, sql, wanted);
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setQueryTimeout(MOST_SECONDS);
      statement.setString(1, wanted);
      Set<OwnerId> owners = new LinkedHashSet<>();
      int rows = 0;
      try (ResultSet rs = statement.executeQuery()) {
        while (rs.next()) {
          rows++;
          Object value = JdbcValues.read(rs, 1, table.ownerColumn());
          if (value != null) {
            owners.add(table.ownerOfValue(value));
          }
        }
      }
      return new OwnerMatches(owners, rows < most);
    } catch (SQLException e) {
      if (ErrorKind.of(e) != ErrorKind.SLOW) {
        throw e;
      }
      throw new GameQueueException(
          "the search took longer than %s s: write more of the text".formatted(MOST_SECONDS));
    }
  }

  private static void requireIndex(Connection connection, String sql, String wanted)
      throws SQLException {
    // MySQL 9 prints a tree where no format is asked for.
    try (PreparedStatement statement =
        connection.prepareStatement("EXPLAIN FORMAT=TRADITIONAL " + sql)) {
      statement.setString(1, wanted);
      try (ResultSet rs = statement.executeQuery()) {
        while (rs.next()) {
          @Nullable String type = rs.getString("type");
          // Null: it knows that there is none. Few rows MySQL likes to read whole.
          if (type != null && !BY_INDEX.contains(type) && rs.getLong("rows") > FEW_ROWS) {
            throw new GameQueueException(
                "MySQL would read the table whole: no index finds this text");
          }
        }
      }
    }
  }
}

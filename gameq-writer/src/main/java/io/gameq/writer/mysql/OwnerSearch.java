package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.JdbcValues;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.owner.OwnerId;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.Table;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Finds owners by how their ids begin, in {@code gameq_owner}, or by their rows. Stateless. */
public final class OwnerSearch {
  /** Behind every character that an encoded id may have. */
  private static final char LAST = '\u007f';

  /** Some milliseconds; who has more writes more of the id. */
  private static final int MOST_ORDERED = 5_000;

  /** Of ids: {@code player:9} before {@code player:10}. */
  public static final Comparator<String> BY_NUMBERS = OwnerSearch::compare;

  private static final Pattern PARTS = Pattern.compile("[0-9]+|[^0-9]+");

  private OwnerSearch() {}

  /**
   * An owner that was opened at some time.
   *
   * @param owner its id
   * @param node that opened it last
   * @param openedMillis when, ms since 1970
   */
  public record OwnerMatch(String owner, String node, long openedMillis) {}

  /**
   * Those whose ids begin so; the index finds them. Numbers in ids are ordered as numbers, among
   * the first {@value #MOST_ORDERED} that the index has.
   *
   * @param beginning of an id, as the game writes it: {@code player:4}
   * @param most owners to find
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static List<OwnerMatch> beginningWith(MySql mysql, String beginning, int most) {
    String from = PercentEncoding.percent(beginning);
    return mysql
        .list(
            "SELECT owner, node, opened_at FROM gameq_owner WHERE owner >= ? AND owner < ? ORDER BY"
                + " owner LIMIT ?",
            rs ->
                new OwnerMatch(
                    OwnerId.ofEncoded(rs.getString(1)).id(),
                    rs.getString(2),
                    Sql.instant(rs, 3).toEpochMilli()),
            from,
            from + LAST,
            Math.max(most, MOST_ORDERED))
        .stream()
        .sorted(Comparator.comparing(OwnerMatch::owner, BY_NUMBERS))
        .limit(most)
        .toList();
  }

  private static int compare(String one, String other) {
    Matcher parts = PARTS.matcher(one);
    Matcher otherParts = PARTS.matcher(other);
    while (parts.find() && otherParts.find()) {
      String part = parts.group();
      String otherPart = otherParts.group();
      int way =
          isNumber(part) && isNumber(otherPart)
              ? new BigInteger(part).compareTo(new BigInteger(otherPart))
              : part.compareTo(otherPart);
      if (way != 0) {
        return way;
      }
    }
    return one.compareTo(other);
  }

  private static boolean isNumber(String part) {
    return part.charAt(0) >= '0' && part.charAt(0) <= '9';
  }

  /**
   * Finds owners by a text in their rows, such as a player's name. An index finds the rows: no
   * table is read whole, and no search takes longer than 2 s. Immutable.
   */
  public static final class ColumnSearch {
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
      return mysql
          .list(
              "SELECT TABLE_NAME, COLUMN_NAME, MIN(INDEX_NAME) FROM information_schema.STATISTICS"
                  + " WHERE TABLE_SCHEMA = DATABASE() AND SEQ_IN_INDEX = 1 AND INDEX_TYPE = 'BTREE'"
                  + " AND COLUMN_NAME IS NOT NULL AND TABLE_NAME NOT LIKE 'gameq|_%' ESCAPE '|'"
                  + " GROUP BY TABLE_NAME, COLUMN_NAME ORDER BY TABLE_NAME, COLUMN_NAME",
              rs -> new TextColumn(rs.getString(1), rs.getString(2), rs.getString(3)))
          .stream()
          .filter(this::isText)
          .toList();
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
        Connection connection, Table table, String sql, String wanted, int most)
        throws SQLException {
      requireIndex(connection, sql, wanted);
      try {
        List<Optional<Object>> found =
            Sql.listWithin(
                connection,
                MOST_SECONDS,
                sql,
                rs -> Optional.ofNullable(JdbcValues.read(rs, 1, table.ownerColumn())),
                wanted);
        return new OwnerMatches(
            found.stream()
                .flatMap(Optional::stream)
                .map(table::ownerOfValue)
                .collect(Collectors.toCollection(LinkedHashSet::new)),
            found.size() < most);
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
      Sql.select(
          connection,
          "EXPLAIN FORMAT=TRADITIONAL " + sql, // MySQL 9 prints a tree where no format is asked for
          rs -> {
            @Nullable String type = rs.getString("type");
            // Null: it knows that there is none. Few rows MySQL likes to read whole.
            if (type != null && !BY_INDEX.contains(type) && rs.getLong("rows") > FEW_ROWS) {
              throw new GameQueueException(
                  "MySQL would read the table whole: no index finds this text");
            }
          },
          wanted);
    }
  }
}

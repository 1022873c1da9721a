package io.gameq.writer.mysql;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One owner in gameq's own tables in MySQL. Immutable.
 *
 * @param raised null when nobody ever opened the owner or sent it anything that is in MySQL
 * @param deadLetters how many there are
 * @param letters the first of them
 * @param tombstones deleted rows that are remembered; {@link #MOST_COUNTED} for that many or more
 * @param discards changes that operators gave up; counted likewise
 */
public record MySqlOwner(
    @Nullable OwnerRecord raised,
    long deadLetters,
    List<LetterSummary> letters,
    long tombstones,
    long discards) {
  /** Counts stop here: that there are more is enough to know. */
  public static final int MOST_COUNTED = 10_000;

  private static final int MOST_LETTERS = 10;

  /**
   * The owner's durable session.
   *
   * @param node that raised it; empty when a writer restored it
   * @param openedAt when it was raised
   * @param adoptedVersion the highest that it took over from Redis; 0 for none
   */
  public record OwnerRecord(
      CountingSessions sessions, String node, Instant openedAt, long adoptedVersion) {}

  /** A row that was set aside, without its values. */
  public record LetterSummary(
      long id,
      String table,
      String rowKey,
      long version,
      int errorCode,
      int attempts,
      Instant refusedAt) {}

  /** {@link #raised}, if the owner was ever opened. */
  public @Nullable OwnerRecord opened() {
    return raised == null || OwnerTable.isNeverOpened(raised.sessions().newest()) ? null : raised;
  }

  /** Whether MySQL knows anything of the owner. */
  public boolean isKnown() {
    return raised != null || deadLetters > 0 || tombstones > 0 || discards > 0;
  }

  /**
   * Asks.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static MySqlOwner read(MySql mysql, OwnerId owner) {
    return mysql.ask(handle -> read(handle.getConnection(), owner.encoded()));
  }

  private static MySqlOwner read(Connection connection, String owner) throws SQLException {
    String upTo = "SELECT COUNT(*) FROM (SELECT 1 FROM %s WHERE owner = ? LIMIT %s) some";
    return new MySqlOwner(
        Sql.first(
            connection,
            "SELECT "
                + OwnerTable.SESSION_COLUMNS
                + ", node, opened_at, adopted_version FROM gameq_owner WHERE owner = ?",
            rs ->
                new OwnerRecord(
                    OwnerTable.counting(rs), rs.getString(7), Sql.instant(rs, 8), rs.getLong(9)),
            owner),
        count(connection, "SELECT COUNT(*) FROM gameq_dead_letter WHERE owner = ?", owner),
        Sql.list(
            connection,
            "SELECT id, table_name, row_key, version, error_code, attempts, refused_at FROM"
                + " gameq_dead_letter WHERE owner = ? ORDER BY id LIMIT "
                + MOST_LETTERS,
            rs ->
                new LetterSummary(
                    rs.getLong(1),
                    rs.getString(2),
                    rs.getString(3),
                    Long.parseUnsignedLong(rs.getString(4)), // a damaged one may be large
                    rs.getInt(5),
                    rs.getInt(6),
                    Sql.instant(rs, 7)),
            owner),
        count(connection, upTo.formatted("gameq_tombstone", MOST_COUNTED), owner),
        count(connection, upTo.formatted("gameq_discard", MOST_COUNTED), owner));
  }

  private static long count(Connection connection, String sql, String owner) throws SQLException {
    return Sql.list(connection, sql, rs -> rs.getLong(1), owner).get(0);
  }
}

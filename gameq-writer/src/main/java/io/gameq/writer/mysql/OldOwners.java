package io.gameq.writer.mysql;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.script.NodeSigns;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Owners in {@code gameq_owner} that were opened last a long time ago, and whose rows go when Redis
 * knows nothing of them either. Thread-safe.
 *
 * <p>A row that is gone ends its session, as a newer one would: what has no row is not flushed, and
 * {@link OwnerTable#restore} does not write it again. The highest epoch of the rows that go is
 * noted with them, and an owner that has no row begins above it.
 */
public final class OldOwners {
  /** What of the owner needs its row in MySQL, all with an index but the last, which is small. */
  private static final String NOT_NEEDED =
      Stream.of("gameq_dead_letter", "gameq_tombstone", "gameq_discard", "gameq_handover")
          .map(
              " AND NOT EXISTS (SELECT 1 FROM %1$s WHERE %1$s.owner = gameq_owner.owner)"
                  ::formatted)
          .collect(Collectors.joining());

  private static final String HAS_NODE =
      "EXISTS (SELECT 1 FROM gameq_node WHERE process IN (LEFT(nonce, 8), LEFT(before_nonce, 8)))";

  private final MySql mysql;
  private final Duration kept;

  /**
   * Owners whose newest session was raised so long ago.
   *
   * @param kept as tombstones are: no older WAL is replayed
   */
  public OldOwners(MySql mysql, Duration kept) {
    this.mysql = mysql;
    this.kept = kept;
  }

  /**
   * An owner that may go. Immutable.
   *
   * @param openedAt as MySQL says it
   * @param hasNode whether a node that had it open was not closed in order: it may have it still,
   *     or have rows of it in its WAL
   */
  public record OldOwner(
      OwnerId owner, CountingSessions sessions, String openedAt, boolean hasNode) {
    /** The sessions that count. */

    /** The ids of the processes that have or had it open. */
    public Set<String> processes() {
      return sessions.all().stream().map(NodeSigns::process).collect(Collectors.toSet());
    }
  }

  /**
   * Some that nothing in MySQL needs, those that were opened first before the others.
   *
   * @param after the last of those before; null for the first
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public List<OldOwner> next(@Nullable OldOwner after, int most) {
    String openedAt = after == null ? "1970-01-01" : after.openedAt;
    return mysql.list(
        "SELECT "
            + OwnerTable.SESSION_COLUMNS
            + ", opened_at, "
            + HAS_NODE
            + " FROM gameq_owner WHERE opened_at < UTC_TIMESTAMP(3) - INTERVAL ? SECOND AND"
            + " opened_at >= ? AND (opened_at > ? OR owner > ?)"
            + NOT_NEEDED
            + " ORDER BY opened_at, owner LIMIT ?",
        rs ->
            new OldOwner(
                OwnerId.ofEncoded(rs.getString(1)),
                OwnerTable.counting(rs),
                rs.getString(7),
                rs.getBoolean(8)),
        kept.toSeconds(),
        openedAt,
        openedAt,
        after == null ? "" : after.owner.encoded(),
        most);
  }

  /**
   * Removes those of them whose sessions are the same, that nothing in MySQL needs since, and that
   * nobody has locked.
   *
   * @return how many
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public int remove(List<OldOwner> owners) {
    return owners.isEmpty()
        ? 0
        : mysql.inTransaction(handle -> remove(handle.getConnection(), owners));
  }

  private static int remove(Connection connection, List<OldOwner> owners) throws SQLException {
    Map<String, SessionId> seen = new HashMap<>();
    owners.forEach(of -> seen.put(of.owner.encoded(), of.sessions.newest()));
    // Locked first: what of them a flush has written is seen by the next statement.
    List<String> locked =
        Sql.list(
            connection,
            "SELECT owner FROM gameq_owner FORCE INDEX (PRIMARY)"
                + in(seen.size())
                + " FOR UPDATE SKIP LOCKED",
            rs -> rs.getString(1),
            seen.keySet().toArray());
    if (locked.isEmpty()) {
      return 0;
    }
    Map<String, SessionId> found = new HashMap<>();
    Sql.select(
        connection,
        "SELECT owner, epoch, nonce FROM gameq_owner" + in(locked.size()) + NOT_NEEDED,
        rs -> found.put(rs.getString(1), new SessionId(rs.getLong(2), rs.getString(3))),
        locked.toArray());
    found.entrySet().removeIf(of -> !of.getValue().equals(seen.get(of.getKey())));
    if (found.isEmpty()) {
      return 0;
    }
    Sql.execute(
        connection,
        "INSERT INTO gameq_setting (name, value) VALUES (?, ?) ON DUPLICATE KEY UPDATE value ="
            + " GREATEST(CAST(value AS UNSIGNED), CAST(VALUES(value) AS UNSIGNED))",
        OwnerTable.PURGED_EPOCH,
        found.values().stream().mapToLong(SessionId::epoch).max().orElseThrow());
    return Sql.execute(
        connection, "DELETE FROM gameq_owner" + in(found.size()), found.keySet().toArray());
  }

  private static String in(int owners) {
    return " WHERE owner IN (" + Sql.marks(owners) + ")";
  }
}

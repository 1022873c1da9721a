package io.gameq.writer.mysql;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.writer.mysql.DeadLetters.DeadLetterFilter;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One owner in gameq's own tables in MySQL. Immutable.
 *
 * @param raised null when nobody ever opened the owner or sent it anything that is in MySQL
 * @param deadLetters how many there are
 * @param letters the first of them, without their rows
 * @param tombstones deleted rows that are remembered; {@link #MOST_COUNTED} for that many or more
 * @param discards changes that operators gave up; counted likewise
 */
public record MySqlOwner(
    @Nullable OwnerRecord raised,
    long deadLetters,
    List<Stored> letters,
    long tombstones,
    long discards) {
  /** Counts stop here: that there are more is enough to know. */
  public static final int MOST_COUNTED = 10_000;

  private static final int MOST_LETTERS = 10;

  /** In the order in which they are shown. */
  private static final List<String> NAMES =
      List.of("sessions", "tombstones", "discards", "handovers", "handled");

  private static final Map<String, String> TABLES =
      Map.of(
          "sessions",
          "SELECT epoch, nonce, node, opened_at AS openedAt, adopted_version AS"
              + " adoptedVersion FROM gameq_owner WHERE owner = ?",
          "tombstones",
          "SELECT table_name AS `table`, row_key AS `key`, version, deleted_at AS deletedAt FROM"
              + " gameq_tombstone WHERE owner = ? ORDER BY table_name, row_key",
          "discards",
          "SELECT table_name AS `table`, row_key AS `key`, session, version, discarded_at AS"
              + " discardedAt FROM gameq_discard WHERE owner = ? ORDER BY table_name, row_key",
          "handovers",
          "SELECT table_name AS `table`, row_key AS `key`, version, IF(received, 'received',"
              + " 'given') AS side, noted_at AS notedAt FROM gameq_handover WHERE owner = ? ORDER"
              + " BY table_name, row_key",
          "handled", // ids that are too long are hashes, see HandledRow
          "SELECT h.topic, h.id, h.handled_at AS handledAt FROM (SELECT DISTINCT topic FROM"
              + " gameq_handled) t JOIN gameq_handled h ON h.topic = t.topic AND h.id > CONCAT(?,"
              + " ':') AND h.id < CONCAT(?, ';') ORDER BY h.topic, h.id");

  /**
   * The owner's durable session.
   *
   * @param node that raised it; empty when a writer restored it
   * @param openedAt when it was raised
   * @param adoptedVersion the highest that it took over from Redis; 0 for none
   */
  public record OwnerRecord(
      CountingSessions sessions, String node, Instant openedAt, long adoptedVersion) {}

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
    DeadLetters letters = new DeadLetters(mysql);
    long count = letters.count(DeadLetterFilter.ofOwner(owner));
    List<Stored> first = letters.ofOwner(owner, false, MOST_LETTERS);
    return mysql.ask(handle -> read(handle.getConnection(), owner.encoded(), count, first));
  }

  private static MySqlOwner read(
      Connection connection, String owner, long letters, List<Stored> first) throws SQLException {
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
        letters,
        first,
        count(connection, upTo.formatted("gameq_tombstone", MOST_COUNTED), owner),
        count(connection, upTo.formatted("gameq_discard", MOST_COUNTED), owner));
  }

  private static long count(Connection connection, String sql, String owner) throws SQLException {
    return Sql.list(connection, sql, rs -> rs.getLong(1), owner).get(0);
  }

  /**
   * What gameq's own tables hold of an owner but for values of rows, by what it is; each record by
   * the names of its fields, as text.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static Map<String, List<Map<String, @Nullable String>>> records(
      MySql mysql, OwnerId owner) {
    return mysql.ask(
        handle -> {
          Map<String, List<Map<String, @Nullable String>>> all = new LinkedHashMap<>();
          for (String name : NAMES) {
            String sql = TABLES.getOrDefault(name, "");
            all.put(name, list(handle.getConnection(), sql, MySqlOwner::fields, owner));
          }
          return all;
        });
  }

  /** How many {@link #records} there are, by what they are: an owner may have had many rows. */
  public static Map<String, Long> counts(MySql mysql, OwnerId owner) {
    return mysql.ask(
        handle -> {
          Map<String, Long> all = new LinkedHashMap<>();
          for (String name : NAMES) {
            String sql = "SELECT COUNT(*) FROM (" + TABLES.getOrDefault(name, "") + ") some";
            all.put(name, list(handle.getConnection(), sql, rs -> rs.getLong(1), owner).get(0));
          }
          return all;
        });
  }

  /** Every parameter of the statement is the owner. */
  private static <T> List<T> list(
      Connection connection, String sql, Sql.Reader<T> reader, OwnerId owner) throws SQLException {
    int marks = (int) sql.chars().filter(at -> at == '?').count();
    Object[] owners = Collections.nCopies(marks, owner.encoded()).toArray();
    return Sql.list(connection, sql, reader, owners);
  }

  private static Map<String, @Nullable String> fields(ResultSet rs) throws SQLException {
    Map<String, @Nullable String> fields = new LinkedHashMap<>();
    ResultSetMetaData columns = rs.getMetaData();
    for (int i = 1; i <= columns.getColumnCount(); i++) {
      boolean isTime = columns.getColumnType(i) == Types.TIMESTAMP;
      fields.put(
          columns.getColumnLabel(i), isTime ? Sql.instant(rs, i).toString() : rs.getString(i));
    }
    return fields;
  }

  /**
   * The entries of the audit log that name an owner as it is written, by their ids; looks at all of
   * them.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static List<Long> auditEntries(MySql mysql, OwnerId owner) {
    Pattern name = Pattern.compile("(?<![\\w.~-])" + Pattern.quote(owner.id()) + "(?![\\w.~-])");
    return mysql
        .list(
            "SELECT id, target, detail FROM gameq_audit WHERE LOCATE(?, target) > 0 OR LOCATE(?,"
                + " detail) > 0 ORDER BY id",
            rs ->
                name.matcher(rs.getString(2)).find() || name.matcher(rs.getString(3)).find()
                    ? rs.getLong(1)
                    : 0L,
            owner.id(),
            owner.id())
        .stream()
        .filter(id -> id > 0)
        .toList();
  }
}

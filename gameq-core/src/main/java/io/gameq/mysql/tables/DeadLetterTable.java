package io.gameq.mysql.tables;

import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.MySqlErrors.MySqlText;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.mysql.Statements;
import io.gameq.mysql.tables.TombstoneTable.RowVersions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table;
import io.gameq.topic.DeadLetter;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Rows that MySQL refuses, in {@code gameq_dead_letter}: one for each row of an owner, the newest
 * that was refused. Stateless.
 */
public final class DeadLetterTable {
  /** What the column takes. */
  private static final int MOST_ERROR_CHARS = 1_024;

  private static final int MOST_TABLE_CHARS = 64;

  private static final int KEYS_PER_STATEMENT = 512;

  private static final Pattern NOT_ASCII = Pattern.compile("[^ -~]");

  /** What {@link #letter} reads. */
  public static final String COLUMNS =
      "id, owner, table_name, row_key, version, image, error_code, error_text, attempts,"
          + " refused_at";

  /** As in rows, the version is assigned last. */
  private static final String INSERT =
      "INSERT INTO gameq_dead_letter (owner, table_name, row_key, version, image, error_code,"
          + " error_text, attempts, refused_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(3))"
          // An operator may have edited the image of this very version.
          + " ON DUPLICATE KEY UPDATE image = IF(VALUES(version) > version, VALUES(image), image), "
          + newest("error_code")
          + newest("error_text")
          + newest("refused_at")
          + "attempts = attempts + VALUES(attempts), version = GREATEST(version, VALUES(version))";

  private DeadLetterTable() {}

  private static String newest(String column) {
    return "%1$s = IF(VALUES(version) >= version, VALUES(%1$s), %1$s), ".formatted(column);
  }

  /**
   * A row to set aside.
   *
   * @param rowKey the part of the row key after the table
   * @param image the row as it was committed
   * @param attempts how often it was tried
   * @param errorCode MySQL's, 0 for an error of gameq's own
   */
  public record Refused(
      OwnerId owner,
      String table,
      String rowKey,
      long version,
      byte[] image,
      int attempts,
      int errorCode,
      String errorText) {
    /** The whole row key, {@code table:primary key}. */
    public String key() {
      return PercentEncoding.percent(table) + ":" + rowKey;
    }
  }

  /** A dead letter as it is stored. */
  public record Stored(long id, Refused refused, Instant refusedAt) {
    /** See {@link Refused#key}. */
    public String key() {
      return refused.key();
    }
  }

  /**
   * Sets rows aside, within the caller's transaction. Of one row the newest version stays, and of
   * one version the image that came first, which an operator may have edited; attempts add up. What
   * an operator discarded is left out.
   *
   * @param most dead letters that the table may hold
   * @return the rows that could not be set aside, and why: all when the table would hold more than
   *     {@code most}
   */
  public static Map<Refused, String> write(
      Connection connection, Collection<Refused> rows, int most) throws SQLException {
    Map<Refused, String> failed = new LinkedHashMap<>();
    if (rows.isEmpty()) {
      return failed;
    }
    if (!hasRoom(connection, rows.size(), most)) {
      String full =
          "gameq_dead_letter has no room: its limit is %s rows, see 'gameq-writer dead'"
              .formatted(most);
      rows.forEach(row -> failed.put(row, full));
      return failed;
    }
    for (Refused row : rows) {
      String table = AuditTable.cut(row.table(), MOST_TABLE_CHARS);
      String rowKey = AuditTable.cut(ascii(row.rowKey()), RowKey.MAX_KEY_BYTES);
      if (DiscardTable.covers(connection, row.owner(), table, rowKey, row.version())) {
        continue; // a late replay of what was given up
      }
      try {
        Sql.execute(
            connection,
            INSERT,
            row.owner().encoded(),
            table,
            rowKey,
            Long.toUnsignedString(row.version()), // a damaged one may be large
            row.image(),
            row.errorCode(),
            AuditTable.cut(row.errorText(), MOST_ERROR_CHARS),
            row.attempts());
      } catch (SQLException e) {
        if (ErrorKind.of(e) != ErrorKind.ROW) { // such as a row over max_allowed_packet
          throw e;
        }
        failed.put(row, "it cannot be set aside either: " + MySqlText.of(e));
      }
    }
    return failed;
  }

  /** For a column of ASCII: a damaged key may hold anything. */
  private static String ascii(String text) {
    return NOT_ASCII.matcher(text).replaceAll("?");
  }

  private static boolean hasRoom(Connection connection, int more, int most) throws SQLException {
    String sql = "SELECT COUNT(*) FROM (SELECT 1 FROM gameq_dead_letter LIMIT ?) some";
    Integer there = Sql.first(connection, sql, rs -> rs.getInt(1), most);
    return there != null && there + more <= most;
  }

  /** Asks for the dead letters of owners, oldest first. */
  static void addOfOwners(Statements to, Collection<OwnerId> owners, Consumer<Stored> letter) {
    List<String> names = OwnerTable.padded(owners);
    to.addSelect(
        "SELECT "
            + COLUMNS
            + " FROM gameq_dead_letter WHERE owner IN ("
            + Sql.marks(names.size())
            + ") ORDER BY id",
        rs -> letter.accept(letter(rs)),
        names.toArray());
  }

  /**
   * Removes dead letters of halves of handovers, {@link DeadLetter#NOT_OWNER}, that had to wait for
   * the other half: of the owners that took part, up to the versions in which the rows are written
   * now. Not those of other owners, which put a row that was never theirs.
   *
   * @param rows of the table, each with its handovers
   */
  public static void removeHalves(Connection connection, Table table, Collection<RowChange> rows)
      throws SQLException {
    Set<List<Object>> halves = new LinkedHashSet<>();
    for (RowChange row : rows) {
      long version = row.image().version();
      halves.add(List.of(row.owner().encoded(), row.key().keyText(), version));
      row.image()
          .handovers()
          .forEach(one -> halves.add(List.of(one.other().encoded(), row.key().keyText(), version)));
    }
    for (List<List<Object>> chunk : Sql.chunks(List.copyOf(halves), KEYS_PER_STATEMENT)) {
      List<List<Object>> some = Sql.padded(chunk);
      List<Object> arguments = new ArrayList<>(List.of(table.name(), DeadLetter.NOT_OWNER));
      some.forEach(arguments::addAll);
      Sql.execute(
          connection,
          "DELETE FROM gameq_dead_letter WHERE table_name = ? AND error_code = ? AND (%s)"
              .formatted(Sql.anyOf("owner = ? AND row_key = ? AND version <= ?", some.size())),
          arguments.toArray());
    }
  }

  /** A dead letter of {@link #COLUMNS}. */
  public static Stored letter(ResultSet rs) throws SQLException {
    return new Stored(
        rs.getLong(1),
        new Refused(
            OwnerId.ofEncoded(rs.getString(2)),
            rs.getString(3),
            rs.getString(4),
            Long.parseUnsignedLong(rs.getString(5)), // a damaged one may be large
            rs.getBytes(6),
            rs.getInt(9),
            rs.getInt(7),
            rs.getString(8)),
        Sql.instant(rs, 10));
  }

  /** Adds the versions in which rows were refused, of each owner that put them. */
  static void addVersions(
      Connection connection, Collection<RowKey> keys, Map<OwnerId, Map<RowKey, Long>> to)
      throws SQLException {
    RowVersions.read(
        connection,
        "SELECT row_key, version, owner FROM gameq_dead_letter",
        keys,
        "",
        (key, version, rs) ->
            to.computeIfAbsent(OwnerId.ofEncoded(rs.getString(3)), owner -> new HashMap<>())
                .put(key, version));
  }
}

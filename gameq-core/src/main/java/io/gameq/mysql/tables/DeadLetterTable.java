package io.gameq.mysql.tables;

import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.MySqlPool.MySqlText;
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
import java.sql.PreparedStatement;
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
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

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

  private static final String COLUMNS =
      "id, owner, table_name, row_key, version, image, error_code, error_text, attempts,"
          + " refused_at";

  private DeadLetterTable() {}

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

  /** Of a list, where no index finds what is asked for: some milliseconds of MySQL. */
  public static final int MOST_LOOKED = 10_000;

  /** How many dead letters there are, and the highest id among them, 0 for none. */
  private record Extent(long count, long lastId) {}

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
    try (PreparedStatement statement =
        connection.prepareStatement(
            "INSERT INTO gameq_dead_letter (owner, table_name, row_key, version, image, error_code,"
                + " error_text, attempts, refused_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?,"
                + " UTC_TIMESTAMP(3)) ON DUPLICATE KEY UPDATE "
                // An operator may have edited the image of this very version.
                + "image = IF(VALUES(version) > version, VALUES(image), image), "
                + newest("error_code")
                + newest("error_text")
                + newest("refused_at")
                + "attempts = attempts + VALUES(attempts), version = GREATEST(version,"
                + " VALUES(version))")) {
      for (Refused row : rows) {
        String table = AuditTable.cut(row.table(), MOST_TABLE_CHARS);
        String rowKey = AuditTable.cut(ascii(row.rowKey()), RowKey.MAX_KEY_BYTES);
        if (DiscardTable.covers(connection, row.owner(), table, rowKey, row.version())) {
          continue; // a late replay of what was given up
        }
        statement.setString(1, row.owner().encoded());
        statement.setString(2, table);
        statement.setString(3, rowKey);
        statement.setString(4, Long.toUnsignedString(row.version())); // a damaged one may be large
        statement.setBytes(5, row.image());
        statement.setInt(6, row.errorCode());
        statement.setString(7, AuditTable.cut(row.errorText(), MOST_ERROR_CHARS));
        statement.setInt(8, row.attempts());
        try {
          statement.executeUpdate();
        } catch (SQLException e) {
          if (ErrorKind.of(e) != ErrorKind.ROW) { // such as a row over max_allowed_packet
            throw e;
          }
          failed.put(row, "it cannot be set aside either: " + MySqlText.of(e));
        }
      }
    }
    return failed;
  }

  /** For a column of ASCII: a damaged key may hold anything. */
  private static String ascii(String text) {
    return NOT_ASCII.matcher(text).replaceAll("?");
  }

  /** As in rows, the version is assigned last. */
  private static String newest(String column) {
    return "%1$s = IF(VALUES(version) >= version, VALUES(%1$s), %1$s), ".formatted(column);
  }

  private static boolean hasRoom(Connection connection, int more, int most) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT COUNT(*) FROM (SELECT 1 FROM gameq_dead_letter LIMIT ?) some")) {
      statement.setInt(1, most);
      try (ResultSet rs = statement.executeQuery()) {
        return rs.next() && rs.getInt(1) + more <= most;
      }
    }
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
        (statement, at) -> Sql.bindTexts(statement, at, names),
        rs -> {
          while (rs.next()) {
            letter.accept(letter(rs));
          }
        });
  }

  /**
   * Some dead letters, in the order of their ids.
   *
   * @param looked how many MySQL looked at, at least
   * @param upTo the id up to which they are all there are
   */
  public record Looked(List<Stored> letters, long looked, long upTo) {}

  /**
   * Dead letters with ids above {@code afterId} up to {@code lastId}, or up to one in between:
   * MySQL looks at {@link #MOST_LOOKED} letters at most.
   *
   * @param withImage whether with their rows; else these are empty
   * @param limit of letters
   */
  public static Looked list(
      Handle handle,
      DeadLetterFilter filter,
      long afterId,
      long lastId,
      boolean withImage,
      int limit) {
    Extent window = new Extent(0, 0);
    long until = lastId;
    if (!filter.isIndexed()) {
      window = extent(handle, filter.indexed(), afterId, lastId, MOST_LOOKED);
      until = window.count() < MOST_LOOKED ? lastId : window.lastId();
    }
    List<Stored> letters =
        filter
            .select(
                handle,
                withImage ? COLUMNS : COLUMNS.replace(" image,", " '' AS image,"),
                filter.index(),
                " AND id > :after AND id <= :last ORDER BY id LIMIT :n")
            .bind("after", afterId)
            .bind("last", until)
            .bind("n", limit)
            .map((rs, context) -> letter(rs))
            .list();
    boolean isCut = letters.size() == limit;
    return new Looked(
        letters,
        isCut ? limit : Math.max(window.count(), letters.size()),
        isCut ? letters.get(limit - 1).id() : until);
  }

  /**
   * An owner of some of the newest dead letters.
   *
   * @param letters how many it has of the newest thousand
   */
  public record InNewest(OwnerId owner, long letters) {}

  /** Owners of the newest thousand dead letters, the latest refused first. */
  public static List<InNewest> newestOwners(Handle handle, int most) {
    return handle
        .select(
            "SELECT owner, COUNT(*) FROM (SELECT id, owner FROM gameq_dead_letter ORDER BY id DESC"
                + " LIMIT 1000) AS newest GROUP BY owner ORDER BY MAX(id) DESC LIMIT ?",
            most)
        .map((rs, context) -> new InNewest(OwnerId.ofEncoded(rs.getString(1)), rs.getLong(2)))
        .list();
  }

  /** How many there are; may look at all letters. */
  public static long count(Handle handle, DeadLetterFilter filter) {
    return filter.select(handle, "COUNT(*)", "", "").mapTo(Long.class).one();
  }

  /** How many there are; up to {@code most}, so that it costs no more than that. */
  public static long count(Handle handle, DeadLetterFilter filter, long most) {
    return extent(handle, filter, 0, Long.MAX_VALUE, most).count();
  }

  private static Extent extent(
      Handle handle, DeadLetterFilter filter, long afterId, long lastId, long most) {
    return filter
        .select(
            handle,
            "COUNT(*), COALESCE(MAX(id), 0) FROM (SELECT id",
            filter.index(),
            " AND id > :after AND id <= :last ORDER BY id LIMIT :n) AS some")
        .bind("after", afterId)
        .bind("last", lastId)
        .bind("n", most)
        .map((rs, context) -> new Extent(rs.getLong(1), rs.getLong(2)))
        .one();
  }

  /** The highest id, 0 when there is no letter. */
  public static long lastId(Handle handle) {
    return handle
        .createQuery("SELECT COALESCE(MAX(id), 0) FROM gameq_dead_letter")
        .mapTo(Long.class)
        .one();
  }

  /** The dead letter with this id, or null. */
  public static @Nullable Stored find(Connection connection, long id) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT " + COLUMNS + " FROM gameq_dead_letter WHERE id = ?")) {
      statement.setLong(1, id);
      try (ResultSet rs = statement.executeQuery()) {
        return rs.next() ? letter(rs) : null;
      }
    }
  }

  /**
   * Notes that a dead letter was tried once more, unless a newer version of the row was refused
   * meanwhile.
   */
  public static void refusedAgain(
      Connection connection, Stored letter, int errorCode, String errorText) throws SQLException {
    int unused =
        Sql.execute(
            connection,
            "UPDATE gameq_dead_letter SET error_code = ?, error_text = ?, attempts = attempts + 1,"
                + " refused_at = UTC_TIMESTAMP(3) WHERE id = ? AND version = ?",
            errorCode,
            AuditTable.cut(errorText, MOST_ERROR_CHARS),
            letter.id(),
            Long.toUnsignedString(letter.refused().version()));
  }

  /**
   * Gives a dead letter another image of the same version; false when it is gone, or not any more
   * as it was read.
   */
  public static boolean replaceImage(Connection connection, Stored letter, byte[] image)
      throws SQLException {
    return Sql.execute(
            connection,
            // The new image may be there already: the reply to the first try was lost.
            "UPDATE gameq_dead_letter SET image = ? WHERE id = ? AND version = ? AND image IN (?,"
                + " ?)",
            image,
            letter.id(),
            Long.toUnsignedString(letter.refused().version()),
            letter.refused().image(),
            image)
        == 1;
  }

  /** Removes a dead letter, unless a newer version of the row was refused meanwhile. */
  public static boolean remove(Connection connection, Stored letter) throws SQLException {
    return Sql.execute(
            connection,
            "DELETE FROM gameq_dead_letter WHERE id = ? AND version = ?",
            letter.id(),
            Long.toUnsignedString(letter.refused().version()))
        == 1;
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
    Set<Half> halves = new LinkedHashSet<>();
    for (RowChange row : rows) {
      halves.add(new Half(row.owner(), row.key(), row.image().version()));
      row.image()
          .handovers()
          .forEach(one -> halves.add(new Half(one.other(), row.key(), row.image().version())));
    }
    for (List<Half> chunk : Sql.chunks(List.copyOf(halves), KEYS_PER_STATEMENT)) {
      List<Half> some = Sql.padded(chunk);
      List<Object> arguments = new ArrayList<>(List.of(table.name(), DeadLetter.NOT_OWNER));
      some.forEach(
          half ->
              arguments.addAll(
                  List.of(half.owner().encoded(), half.key().keyText(), half.version())));
      int unused =
          Sql.execute(
              connection,
              "DELETE FROM gameq_dead_letter WHERE table_name = ? AND error_code = ? AND ("
                  + Sql.anyOf("owner = ? AND row_key = ? AND version <= ?", some.size())
                  + ")",
              arguments.toArray());
    }
  }

  /** A row as one owner of a handover has it, in versions up to this one. */
  private record Half(OwnerId owner, RowKey key, long version) {}

  private static Stored letter(ResultSet rs) throws SQLException {
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

  /** The versions in which rows of a table were refused, of each owner that put them. */
  static Map<OwnerId, Map<RowKey, Long>> versions(
      Connection connection, Table table, Collection<RowKey> keys) throws SQLException {
    Map<OwnerId, Map<RowKey, Long>> found = new HashMap<>();
    RowVersions.read(
        connection,
        "SELECT row_key, version, owner FROM gameq_dead_letter",
        table,
        keys,
        "",
        (key, version, rs) ->
            found
                .computeIfAbsent(OwnerId.ofEncoded(rs.getString(3)), owner -> new HashMap<>())
                .put(key, version));
    return found;
  }
}

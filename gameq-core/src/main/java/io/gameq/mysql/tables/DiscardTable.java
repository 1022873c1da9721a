package io.gameq.mysql.tables;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.mysql.Statements;
import io.gameq.mysql.tables.TombstoneTable.RowVersions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow.RowKey;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ObjLongConsumer;
import java.util.stream.Stream;

/**
 * Changes that an operator gave up, in {@code gameq_discard}: no flush, retry, healing or recovery
 * writes them again. Stateless.
 */
public final class DiscardTable {
  private static final int ROWS_PER_STATEMENT = 512;

  private static final String SELECT = "SELECT row_key, version, owner, session FROM gameq_discard";

  /** A discard that counts whichever session made the change. */
  private static final String ANY_SESSION = "";

  private static final String OF_ANY_SESSION = " AND session = ''";

  private DiscardTable() {}

  /**
   * What is given up: the changes of one row up to a version.
   *
   * @param rowKey the part of the row key after the table
   * @param session of whose changes only, as text; empty for all
   */
  public record Discard(OwnerId owner, String table, String rowKey, String session, long version) {
    /**
     * Every change of the row up to the version: what a dead letter holds, and what it replaced.
     */
    public static Discard ofRow(OwnerId owner, String table, String rowKey, long version) {
      return new Discard(owner, table, rowKey, ANY_SESSION, version);
    }

    /** Whether it covers a change of this row by this owner, or one that was sent to it. */
    public boolean covers(OwnerId byOwner, SessionId bySession, long ofVersion) {
      return owner.equals(byOwner.base())
          && (session.equals(ANY_SESSION) || session.equals(bySession.text()))
          && Long.compareUnsigned(version, ofVersion) >= 0;
    }
  }

  /** Remembers discards, each unless a newer one of the same row and session is known. */
  public static void write(Connection connection, Collection<Discard> discards)
      throws SQLException {
    for (List<Discard> some : Sql.chunks(List.copyOf(discards), ROWS_PER_STATEMENT)) {
      Sql.execute(
          connection,
          "INSERT INTO gameq_discard (table_name, row_key, session, owner, version, discarded_at)"
              + " VALUES "
              + Sql.rows("(?, ?, ?, ?, ?, UTC_TIMESTAMP(3))", some.size())
              + " ON DUPLICATE KEY UPDATE discarded_at = VALUES(discarded_at), version ="
              + " GREATEST(version, VALUES(version))",
          some.stream().flatMap(DiscardTable::values).toArray());
    }
  }

  private static Stream<Object> values(Discard of) {
    return Stream.of(of.table, of.rowKey, of.session, of.owner.encoded(), of.version);
  }

  /**
   * The same by itself.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static void write(MySql mysql, Collection<Discard> discards) {
    mysql.askAgain(
        handle -> {
          write(handle.getConnection(), discards);
          return true;
        });
  }

  /**
   * Forgets discards, each unless a newer one of the same row and session is known.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static void remove(MySql mysql, Collection<Discard> discards) {
    for (Discard of : discards) {
      mysql.execute(
          "DELETE FROM gameq_discard WHERE table_name = ? AND row_key = ? AND session = ? AND"
              + " version = ?",
          of.table,
          of.rowKey,
          of.session,
          of.version);
    }
  }

  /** The changes of a flush but for those given up. One statement when nothing ever was. */
  public static Collection<RowChange> notCovered(
      Connection connection, Collection<RowChange> changes) throws SQLException {
    List<String> tables =
        Sql.list(
            connection, "SELECT DISTINCT table_name FROM gameq_discard", rs -> rs.getString(1));
    if (tables.isEmpty()) {
      return changes;
    }
    Map<OwnerId, Map<RowKey, Long>> upTo = new HashMap<>();
    addVersions(
        connection,
        changes.stream()
            .map(RowChange::key)
            .filter(key -> tables.contains(key.table().name()))
            .toList(),
        upTo);
    return changes.stream()
        .filter(
            change ->
                upTo.getOrDefault(change.owner().base(), Map.of()).getOrDefault(change.key(), -1L)
                    < change.image().version())
        .toList();
  }

  /** Adds up to which version all changes of each row by each owner are given up. */
  static void addVersions(
      Connection connection, Collection<RowKey> keys, Map<OwnerId, Map<RowKey, Long>> to)
      throws SQLException {
    RowVersions.read(
        connection,
        SELECT,
        keys,
        OF_ANY_SESSION,
        (key, version, rs) ->
            to.computeIfAbsent(OwnerId.ofEncoded(rs.getString(3)), owner -> new HashMap<>())
                .merge(key, version, Math::max));
  }

  /**
   * Asks beside other statements up to which version all changes of rows by an owner are given up.
   */
  static void add(
      Statements to, Collection<RowKey> keys, OwnerId owner, ObjLongConsumer<RowKey> discarded) {
    RowVersions.add(
        to,
        SELECT,
        keys,
        OF_ANY_SESSION,
        (key, version, rs) -> {
          if (OwnerId.ofEncoded(rs.getString(3)).equals(owner)) {
            discarded.accept(key, version);
          }
        });
  }

  /** Whether all changes of a row by an owner up to this version are given up. */
  static boolean covers(
      Connection connection, OwnerId owner, String table, String rowKey, long version)
      throws SQLException {
    return Sql.exists(
        connection,
        "SELECT 1 FROM gameq_discard WHERE table_name = ? AND row_key = ? AND owner = ?"
            + " AND session = '' AND version >= ?",
        table,
        rowKey,
        owner.encoded(),
        Long.toUnsignedString(version));
  }

  /** All discards of these rows; rows without are missing. */
  public static Map<RowKey, List<Discard>> read(Connection connection, Collection<RowKey> keys)
      throws SQLException {
    Map<RowKey, List<Discard>> found = new HashMap<>();
    RowVersions.read(
        connection,
        SELECT,
        keys,
        "",
        (key, version, rs) ->
            found
                .computeIfAbsent(key, k -> new ArrayList<>())
                .add(
                    new Discard(
                        OwnerId.ofEncoded(rs.getString(3)),
                        key.table().name(),
                        key.keyText(),
                        rs.getString(4),
                        version)));
    return found;
  }
}

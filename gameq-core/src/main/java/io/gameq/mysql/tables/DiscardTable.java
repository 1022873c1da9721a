package io.gameq.mysql.tables;

import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.mysql.Statements;
import io.gameq.mysql.tables.TombstoneTable.RowVersions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ObjLongConsumer;
import java.util.stream.Collectors;

/**
 * Changes that an operator gave up, in {@code gameq_discard}: no flush, retry, healing or recovery
 * writes them again. Stateless.
 */
public final class DiscardTable {
  private static final int ROWS_PER_STATEMENT = 512;

  private static final String SELECT = "SELECT row_key, version, owner, session FROM gameq_discard";

  /** A discard that counts whichever session made the change. */
  private static final String ANY_SESSION = "";

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
      List<Object> arguments = new ArrayList<>();
      for (Discard discard : some) {
        arguments.addAll(
            List.of(
                discard.table(),
                discard.rowKey(),
                discard.session(),
                discard.owner().encoded(),
                discard.version()));
      }
      int unused =
          Sql.execute(
              connection,
              "INSERT INTO gameq_discard (table_name, row_key, session, owner, version,"
                  + " discarded_at) VALUES "
                  + Sql.rows("(?, ?, ?, ?, ?, UTC_TIMESTAMP(3))", some.size())
                  + " ON DUPLICATE KEY UPDATE discarded_at = VALUES(discarded_at), version ="
                  + " GREATEST(version, VALUES(version))",
              arguments.toArray());
    }
  }

  /** Forgets discards, each unless a newer one of the same row and session is known. */
  public static void remove(Connection connection, Collection<Discard> discards)
      throws SQLException {
    for (Discard discard : discards) {
      int unused =
          Sql.execute(
              connection,
              "DELETE FROM gameq_discard WHERE table_name = ? AND row_key = ? AND session = ? AND"
                  + " version = ?",
              discard.table(),
              discard.rowKey(),
              discard.session(),
              discard.version());
    }
  }

  /** The changes of a flush but for those given up. One statement when nothing ever was. */
  public static Collection<RowChange> notCovered(
      Connection connection, Collection<RowChange> changes) throws SQLException {
    Set<String> tables = tables(connection);
    if (tables.isEmpty()) {
      return changes;
    }
    Map<Table, List<RowKey>> keys =
        changes.stream()
            .map(RowChange::key)
            .filter(key -> tables.contains(key.table().name()))
            .collect(Collectors.groupingBy(RowKey::table));
    Map<RowKey, List<Discard>> discards = new HashMap<>();
    for (Map.Entry<Table, List<RowKey>> of : keys.entrySet()) {
      discards.putAll(read(connection, of.getKey(), of.getValue()));
    }
    return changes.stream()
        .filter(
            change ->
                upTo(discards.getOrDefault(change.key(), List.of()), change.owner())
                    < change.image().version())
        .toList();
  }

  /** Up to which version all changes of an owner are given up; -1 when none is. */
  private static long upTo(List<Discard> discards, OwnerId owner) {
    return discards.stream()
        .filter(of -> of.session().equals(ANY_SESSION) && of.owner().equals(owner.base()))
        .mapToLong(Discard::version)
        .max()
        .orElse(-1);
  }

  private static Set<String> tables(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement("SELECT DISTINCT table_name FROM gameq_discard");
        ResultSet rs = statement.executeQuery()) {
      Set<String> tables = new HashSet<>();
      while (rs.next()) {
        tables.add(rs.getString(1));
      }
      return tables;
    }
  }

  /** Up to which version all changes of each row by each owner are given up; others are missing. */
  static Map<OwnerId, Map<RowKey, Long>> versions(
      Connection connection, Table table, Collection<RowKey> keys) throws SQLException {
    Map<OwnerId, Map<RowKey, Long>> found = new HashMap<>();
    read(connection, table, keys)
        .forEach(
            (key, discards) ->
                discards.stream()
                    .filter(of -> of.session().equals(ANY_SESSION))
                    .forEach(
                        of ->
                            found
                                .computeIfAbsent(of.owner(), o -> new HashMap<>())
                                .put(key, of.version())));
    return found;
  }

  /**
   * Asks beside other statements up to which version all changes of rows by an owner are given up.
   */
  static void add(
      Statements to,
      Table table,
      Collection<RowKey> keys,
      OwnerId owner,
      ObjLongConsumer<RowKey> discarded) {
    RowVersions.add(
        to,
        SELECT,
        table,
        keys,
        "",
        (key, version, rs) -> {
          Discard of = discard(table, key, version, rs);
          if (of.session().equals(ANY_SESSION) && of.owner().equals(owner)) {
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
  public static Map<RowKey, List<Discard>> read(
      Connection connection, Table table, Collection<RowKey> keys) throws SQLException {
    Map<RowKey, List<Discard>> found = new HashMap<>();
    RowVersions.read(
        connection,
        SELECT,
        table,
        keys,
        "",
        (key, version, rs) ->
            found
                .computeIfAbsent(key, k -> new ArrayList<>())
                .add(discard(table, key, version, rs)));
    return found;
  }

  private static Discard discard(Table table, RowKey key, long version, ResultSet rs)
      throws SQLException {
    return new Discard(
        OwnerId.ofEncoded(rs.getString(3)), table.name(), key.keyText(), rs.getString(4), version);
  }
}

package io.gameq.writer.explorer;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What is committed in MySQL: items, durable sessions, tombstones, handovers, dead letters, and the
 * term.
 *
 * @param term the columns of gameq_redis_term but its times, as SQL; empty when nobody settled one
 */
record TableImage(
    TreeMap<Integer, Item> items,
    TreeMap<String, DurableSession> sessions,
    TreeMap<Integer, Tombstone> tombstones,
    TreeMap<String, String> handovers,
    TreeMap<String, Letter> letters,
    String term) {
  static final String ITEM_COLUMNS =
      "id INT NOT NULL PRIMARY KEY, player_id INT NOT NULL, count INT NOT NULL, KEY (player_id)";

  /** A row of the managed table; its primary key does not name the owner. */
  record Item(int id, int player, int count, long version) {}

  /**
   * A row of gameq_owner. Its opened_at is always long past.
   *
   * @param before epoch and nonce of the session before, as SQL
   */
  record DurableSession(
      String owner, long epoch, String nonce, String node, String state, String before) {
    SessionId id() {
      return new SessionId(epoch, nonce);
    }
  }

  /** A row of gameq_tombstone. */
  record Tombstone(int id, String owner, long version) {}

  /** A row of gameq_dead_letter. */
  record Letter(int id, String owner, long version) {
    String key() {
      return id + "," + owner;
    }
  }

  static TableImage take(Connection connection) throws SQLException {
    TableImage image =
        new TableImage(
            new TreeMap<>(),
            new TreeMap<>(),
            new TreeMap<>(),
            new TreeMap<>(),
            new TreeMap<>(),
            "");
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "SELECT id, player_id, count, gq_version FROM item;SELECT owner, epoch, nonce, node,"
              + " state, COALESCE(CONCAT(before_epoch, ', ', QUOTE(before_nonce)), 'NULL, NULL')"
              + " FROM gameq_owner;SELECT row_key, owner, version FROM gameq_tombstone;SELECT"
              + " CONCAT_WS(',', row_key, owner, version), CONCAT_WS(',', received, epoch, nonce)"
              + " FROM gameq_handover;SELECT row_key, owner, version FROM gameq_dead_letter;SELECT"
              + " CONCAT_WS(', ', number, QUOTE(run_id), QUOTE(repl_id), QUOTE(address),"
              + " sentinel_epoch, QUOTE(former_run_id), QUOTE(former_repl_id)) FROM"
              + " gameq_redis_term");
      try (ResultSet rs = statement.getResultSet()) {
        while (rs.next()) {
          image.items.put(
              rs.getInt(1), new Item(rs.getInt(1), rs.getInt(2), rs.getInt(3), rs.getLong(4)));
        }
      }
      statement.getMoreResults();
      try (ResultSet rs = statement.getResultSet()) {
        while (rs.next()) {
          image.sessions.put(
              rs.getString(1),
              new DurableSession(
                  rs.getString(1),
                  rs.getLong(2),
                  rs.getString(3),
                  rs.getString(4),
                  rs.getString(5),
                  rs.getString(6)));
        }
      }
      statement.getMoreResults();
      try (ResultSet rs = statement.getResultSet()) {
        while (rs.next()) {
          image.tombstones.put(
              rs.getInt(1), new Tombstone(rs.getInt(1), rs.getString(2), rs.getLong(3)));
        }
      }
      statement.getMoreResults();
      try (ResultSet rs = statement.getResultSet()) {
        while (rs.next()) {
          image.handovers.put(rs.getString(1), rs.getString(2));
        }
      }
      statement.getMoreResults();
      try (ResultSet rs = statement.getResultSet()) {
        while (rs.next()) {
          Letter letter = new Letter(rs.getInt(1), rs.getString(2), rs.getLong(3));
          image.letters.put(letter.key(), letter);
        }
      }
      statement.getMoreResults();
      try (ResultSet rs = statement.getResultSet()) {
        return rs.next() ? image.withTerm(rs.getString(1)) : image;
      }
    }
  }

  private TableImage withTerm(String now) {
    return new TableImage(items, sessions, tombstones, handovers, letters, now);
  }

  /** Makes MySQL hold this, which holds {@code now}; one round trip. */
  void put(Connection connection, TableImage now) throws SQLException {
    List<String> sql = new ArrayList<>();
    difference(now.items, items, "item", "id").forEach(sql::add);
    difference(now.tombstones, tombstones, "gameq_tombstone", "row_key").forEach(sql::add);
    items.forEach(
        (id, item) -> {
          if (!item.equals(now.items.get(id))) {
            sql.add(
                "REPLACE INTO item (id, player_id, count, gq_version) VALUES (%d, %d, %d, %d)"
                    .formatted(id, item.player, item.count, item.version));
          }
        });
    tombstones.forEach(
        (id, tombstone) -> {
          if (!tombstone.equals(now.tombstones.get(id))) {
            sql.add(
                ("REPLACE INTO gameq_tombstone (table_name, row_key, owner, version,"
                        + " deleted_at) VALUES ('item', '%d', '%s', %d, '2020-01-01')")
                    .formatted(id, tombstone.owner, tombstone.version));
          }
        });
    difference(
            now.handovers, handovers, "gameq_handover", "CONCAT_WS(',', row_key, owner, version)")
        .forEach(sql::add);
    difference(now.letters, letters, "gameq_dead_letter", "CONCAT_WS(',', row_key, owner)")
        .forEach(sql::add);
    handovers.forEach(
        (key, value) -> {
          if (!value.equals(now.handovers.get(key))) {
            String[] k = key.split(",", -1);
            String[] v = value.split(",", -1);
            sql.add(
                ("REPLACE INTO gameq_handover (table_name, row_key, owner, version,"
                        + " received, epoch, nonce, noted_at) VALUES ('item', '%s', '%s', %s, %s,"
                        + " %s, '%s', '2020-01-01')")
                    .formatted(k[0], k[1], k[2], v[0], v[1], v[2]));
          }
        });
    letters.forEach(
        (key, letter) -> {
          if (!letter.equals(now.letters.get(key))) {
            sql.add(
                ("REPLACE INTO gameq_dead_letter (owner, table_name, row_key, version,"
                        + " image, error_code, error_text, attempts, refused_at) VALUES ('%s',"
                        + " 'item', '%d', %d, '', -1, '', 1, '2020-01-01')")
                    .formatted(letter.owner, letter.id, letter.version));
          }
        });
    putSessions(sql, now.sessions);
    if (!term.equals(now.term)) {
      sql.add("DELETE FROM gameq_redis_term");
      if (!term.isEmpty()) {
        sql.add(
            ("INSERT INTO gameq_redis_term (number, run_id, repl_id, address,"
                    + " sentinel_epoch, former_run_id, former_repl_id, id, began_at, seen_at)"
                    + " VALUES (%s, 1, '2020-01-01', UTC_TIMESTAMP(3))")
                .formatted(term));
      }
    }
    execute(connection, sql);
  }

  private void putSessions(List<String> sql, Map<String, DurableSession> now) {
    difference(now, sessions, "gameq_owner", "owner").forEach(sql::add);
    sessions.forEach(
        (owner, session) -> {
          if (!session.equals(now.get(owner))) {
            sql.add(replace(session));
          }
        });
  }

  private static String replace(DurableSession s) {
    return ("REPLACE INTO gameq_owner (owner, epoch, nonce, node, state, opened_at,"
            + " before_epoch, before_nonce) VALUES ('%s', %d, '%s', '%s', '%s', '2020-01-01', %s)")
        .formatted(s.owner, s.epoch, s.nonce, s.node, s.state, s.before);
  }

  private static List<String> difference(
      Map<?, ?> now, Map<?, ?> wanted, String table, String keyColumn) {
    return now.keySet().stream()
        .filter(key -> !wanted.containsKey(key))
        .map(key -> "DELETE FROM %s WHERE %s = '%s'".formatted(table, keyColumn, key))
        .toList();
  }

  private static void execute(Connection connection, List<String> sql) throws SQLException {
    if (!sql.isEmpty()) {
      try (Statement statement = connection.createStatement()) {
        statement.execute(String.join(";", sql));
      }
    }
  }

  /** Lets the open of an owner look as if it had begun long ago. */
  static void age(Connection connection, OwnerId owner) throws SQLException {
    execute(
        connection,
        List.of(
            "UPDATE gameq_owner SET opened_at = '2020-01-01' WHERE owner = '%s'"
                .formatted(owner.encoded())));
  }

  /** The version MySQL knows of a row, deleted or not; 0 when it knows nothing. */
  long version(int id) {
    Item item = items.get(id);
    Tombstone tombstone = tombstones.get(id);
    return Math.max(item == null ? 0 : item.version, tombstone == null ? 0 : tombstone.version);
  }

  @SuppressWarnings("NullAway")
  DurableSession session(OwnerId owner) {
    return sessions.get(owner.encoded());
  }
}

package io.gameq.writer.campaign;

import io.gameq.servers.MySqlServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What MySQL holds at the end of a case. Stateless. */
public final class FinalState {
  private FinalState() {}

  /** Every row of the game's tables. */
  public static Map<String, Held> rows(MySqlServer mysql) throws SQLException {
    Map<String, Held> rows = new HashMap<>();
    try (Connection connection = mysql.connect();
        Statement statement = connection.createStatement()) {
      for (String table : CampaignTables.NAMES) {
        String key = table.equals("item") ? "CONCAT(player_id, ',', slot)" : "id";
        try (ResultSet rs =
            statement.executeQuery(
                "SELECT " + key + ", player_id, val, gq_version FROM " + table)) {
          while (rs.next()) {
            rows.put(
                table + ":" + rs.getString(1),
                new Held(CampaignTables.player(rs.getLong(2)), rs.getString(3), rs.getLong(4)));
          }
        }
      }
    }
    return rows;
  }

  /** The epoch of each owner's newest session. */
  static Map<String, Long> epochs(MySqlServer mysql) throws SQLException {
    return numbers(mysql, "SELECT owner, epoch FROM gameq_owner");
  }

  /** Rows that are dead letters. */
  static Set<String> setAside(MySqlServer mysql) throws SQLException {
    return numbers(mysql, "SELECT CONCAT(table_name, ':', row_key), version FROM gameq_dead_letter")
        .keySet();
  }

  /** Rows that were set aside since they had been sent under a key that was in use. */
  static Set<String> keysInUse(MySqlServer mysql) throws SQLException {
    return numbers(
            mysql,
            "SELECT CONCAT(table_name, ':', row_key), version FROM gameq_dead_letter WHERE"
                + " error_text LIKE '%new key%'")
        .keySet();
  }

  private static Map<String, Long> numbers(MySqlServer mysql, String sql) throws SQLException {
    Map<String, Long> numbers = new HashMap<>();
    try (Connection connection = mysql.connect();
        Statement statement = connection.createStatement();
        ResultSet rs = statement.executeQuery(sql)) {
      while (rs.next()) {
        numbers.put(rs.getString(1), rs.getLong(2));
      }
    }
    return numbers;
  }

  /** What rows of {@code deed} hold: the commits that put them. */
  public static Set<String> deeds(Map<String, Held> rows) {
    return rows.entrySet().stream()
        .filter(row -> Change.table(row.getKey()).equals("deed"))
        .map(row -> row.getValue().value())
        .collect(Collectors.toSet());
  }

  /** The newest version that MySQL knows of each row, deleted ones included. */
  public static Map<String, Long> versions(MySqlServer mysql) throws SQLException {
    Map<String, Long> versions = new HashMap<>();
    rows(mysql).forEach((row, held) -> versions.put(row, held.version()));
    numbers(mysql, "SELECT CONCAT(table_name, ':', row_key), version FROM gameq_tombstone")
        .forEach((row, version) -> versions.merge(row, version, Math::max));
    return versions;
  }

  /**
   * All that counts of rows, versions, tombstones, dead letters and sessions. A tombstone older
   * than its row, which a late delete leaves behind, says nothing.
   */
  static Map<String, String> everything(MySqlServer mysql) throws SQLException {
    Map<String, Held> rows = rows(mysql);
    Map<String, String> all = new TreeMap<>();
    rows.forEach((row, held) -> all.put(row, held.toString()));
    try (Connection connection = mysql.connect();
        Statement statement = connection.createStatement()) {
      try (ResultSet rs =
          statement.executeQuery(
              "SELECT CONCAT(table_name, ':', row_key), version FROM gameq_tombstone")) {
        while (rs.next()) {
          Held held = rows.get(rs.getString(1));
          if (held == null || held.version() < rs.getLong(2)) {
            all.put("tombstone of " + rs.getString(1), rs.getString(2));
          }
        }
      }
      try (ResultSet rs =
          statement.executeQuery(
              "SELECT CONCAT('owner ', owner), CONCAT(epoch, nonce, state) FROM gameq_owner UNION"
                  + " ALL SELECT CONCAT('dead letter ', table_name, ':', row_key, '@', version), ''"
                  + " FROM gameq_dead_letter")) {
        while (rs.next()) {
          all.put(rs.getString(1), rs.getString(2));
        }
      }
    }
    return all;
  }
}

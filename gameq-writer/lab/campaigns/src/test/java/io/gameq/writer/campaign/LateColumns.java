package io.gameq.writer.campaign;

import io.gameq.ChangeSet;
import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.node.NodeAccess;
import io.gameq.servers.MySqlServer;
import io.gameq.writer.campaign.Violation.Kind;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Columns that all tables are given while nodes run. A node that was started since puts into each a
 * value that follows from the row's key and is no default; a node of before knows nothing of them,
 * and none may ever be set back by it. Stateless.
 */
final class LateColumns {
  /** In one place, so that the one in the middle can be dropped. */
  static final String ADD =
      "ADD COLUMN horns INT NOT NULL DEFAULT 7, ADD COLUMN tail INT, ADD COLUMN gone INT NOT NULL"
          + " DEFAULT 3, ADD COLUMN note VARCHAR(20) NOT NULL, ADD COLUMN mood ENUM('calm','wild')"
          + " NOT NULL DEFAULT 'calm'";

  static final String WIDEN =
      "MODIFY COLUMN horns BIGINT NOT NULL DEFAULT 7, MODIFY COLUMN note VARCHAR(60) NOT NULL,"
          + " MODIFY COLUMN mood ENUM('calm','wild','proud') NOT NULL DEFAULT 'calm', MODIFY COLUMN"
          + " val VARCHAR(80) NOT NULL";

  static final String DROP = "DROP COLUMN gone";

  /** What 'schema drop-column' does. */
  static String announced(String table) {
    return "INSERT INTO gameq_dropped_column VALUES ('%s', 'gone', UTC_TIMESTAMP(3))"
        .formatted(table);
  }

  /** What rows have of which nobody says anything. */
  private static final String DEFAULTS = "7,null,,calm";

  private LateColumns() {}

  private static long number(String row) {
    return 1_000L + Math.floorMod(row.hashCode(), 1_000);
  }

  /** What a node that knows a column of this declaration puts into it. */
  private static Object value(String column, String declaration, String row) {
    boolean wide = declaration.matches("bigint.*|.*\\(60\\).*|.*'proud'.*");
    return switch (column) {
      case "horns" -> (wide ? 5_000_000_000L : 0) + number(row);
      case "note" -> "n" + number(row) + (wide ? "x".repeat(40) : "");
      case "mood" -> wide ? "proud" : "wild";
      default -> number(row);
    };
  }

  /** Puts a row with all columns that the node knows. */
  static void put(GameQueue queue, OwnerSession session, Record row) {
    Map<String, Object> all = columns(queue, row);
    if (all.isEmpty()) {
      session.put(row);
    } else {
      session.put(table(row), all);
    }
  }

  /** The same for a handler's. */
  static void put(GameQueue queue, ChangeSet changes, Record row) {
    Map<String, Object> all = columns(queue, row);
    if (all.isEmpty()) {
      changes.put(row);
    } else {
      changes.put(table(row), all);
    }
  }

  /** The same for a move. */
  static void move(GameQueue queue, OwnerSession from, Record row, OwnerSession to) {
    Map<String, Object> all = columns(queue, row);
    if (all.isEmpty()) {
      from.move(row, to);
    } else {
      from.move(table(row), all, to);
    }
  }

  /** The same for a row that is sent, without a session or with the changes of one. */
  static CommitReceipt send(GameQueue queue, String to, Record row) {
    Map<String, Object> all = columns(queue, row);
    return all.isEmpty() ? queue.send(to, row) : queue.send(to, table(row), all);
  }

  static void send(GameQueue queue, OwnerSession with, String to, Record row) {
    Map<String, Object> all = columns(queue, row);
    if (all.isEmpty()) {
      with.send(to, row);
    } else {
      with.send(to, table(row), all);
    }
  }

  private static String table(Record row) {
    return row.getClass().getSimpleName().toLowerCase(Locale.ROOT);
  }

  /** Empty when the node knows no late column. */
  private static Map<String, Object> columns(GameQueue queue, Record row) {
    Map<String, String> known = NodeAccess.columns(queue, table(row));
    if (!known.containsKey("horns")) {
      return Map.of();
    }
    Map<String, Object> all = new LinkedHashMap<>();
    String key;
    if (row instanceof CampaignTables.Item item) {
      all.putAll(Map.of("player_id", item.playerId(), "slot", item.slot(), "val", item.val()));
      key = CampaignTables.item(item.playerId(), item.slot());
    } else if (row instanceof CampaignTables.Pet pet) {
      all.putAll(Map.of("id", pet.id(), "player_id", pet.playerId(), "val", pet.val()));
      key = CampaignTables.pet(pet.id());
    } else if (row instanceof CampaignTables.Gear gear) {
      all.putAll(
          Map.of(
              "id",
              gear.id(),
              "player_id",
              gear.playerId(),
              "slot",
              gear.slot(),
              "val",
              gear.val()));
      all.put("bag", gear.bag());
      key = CampaignTables.gear(gear.id());
    } else if (row instanceof CampaignTables.Mail mail) {
      all.putAll(Map.of("id", mail.id(), "player_id", mail.playerId(), "val", mail.val()));
      key = CampaignTables.mail(mail.id());
    } else {
      CampaignTables.Deed deed = (CampaignTables.Deed) row;
      all.putAll(Map.of("id", deed.id(), "player_id", deed.playerId(), "val", deed.val()));
      key = CampaignTables.deed(deed.id());
    }
    known.forEach(
        (column, declaration) -> {
          if (!all.containsKey(column)) {
            all.put(column, value(column, declaration, key));
          }
        });
    return all;
  }

  // --- at the end

  /** Rows of which a column was set back, or has what nobody put. */
  static List<Violation> check(MySqlServer mysql, History history) throws SQLException {
    List<Violation> violations = new ArrayList<>();
    if (mysql
        .queryText(
            "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND"
                + " column_name = 'horns'")
        .equals("0")) {
      return violations;
    }
    Map<String, List<Attempt>> attempts = new HashMap<>();
    history.attempts.values().stream()
        .filter(attempt -> attempt.outcome != Attempt.Outcome.FAIL)
        .sorted(Comparator.comparingLong(attempt -> attempt.invokedAt))
        .forEach(
            attempt ->
                attempt.changes.forEach(
                    change ->
                        attempts
                            .computeIfAbsent(change.row(), row -> new ArrayList<>())
                            .add(attempt)));
    int known = 0;
    for (Map.Entry<String, String[]> of : rows(mysql).entrySet()) {
      String row = of.getKey();
      String late = of.getValue()[1];
      boolean isPut = isPut(row, late);
      known += isPut ? 1 : 0;
      Boolean must = mustBePut(row, of.getValue()[0], attempts.getOrDefault(row, List.of()));
      if (!isPut && (!late.equals(DEFAULTS) || Objects.equals(must, true))) {
        violations.add(new Violation(Kind.RESET, "MySQL holds %s with %s".formatted(row, late)));
      } else if (isPut && Objects.equals(must, false)) {
        violations.add(
            new Violation(
                Kind.RESURRECTED, "MySQL holds %s, made anew, with %s".formatted(row, late)));
      }
    }
    System.out.printf("  note: %d rows with late columns%n", known);
    return violations;
  }

  /** Whether each column has a value that a node puts. */
  private static boolean isPut(String row, String late) {
    String n = Long.toString(number(row));
    return late.matches(
        "(%s|%d),%s,n%s(x{40})?,(wild|proud)".formatted(n, 5_000_000_000L + number(row), n, n));
  }

  /**
   * Whether a node that knows the columns put the row as it is, or before it was put by others;
   * null when nobody can tell.
   */
  private static @Nullable Boolean mustBePut(String row, String value, List<Attempt> attempts) {
    int at = attempts.size() - 1;
    while (at >= 0 && !attempts.get(at).id.equals(value)) {
      at--;
    }
    for (boolean newest = true; at >= 0; at--, newest = false) {
      Attempt attempt = attempts.get(at);
      boolean put =
          attempt.changes.stream().anyMatch(change -> change.row().equals(row) && change.put());
      if (put && !knows(attempt)) {
        continue;
      }
      return (newest || attempt.outcome == Attempt.Outcome.OK) ? Boolean.valueOf(put) : null;
    }
    return false;
  }

  /** Every process but the first of each node was started after the columns were added. */
  private static boolean knows(Attempt attempt) {
    return !attempt.process().endsWith(".1");
  }

  /** Row to its value, and what it has in the late columns. */
  private static Map<String, String[]> rows(MySqlServer mysql) throws SQLException {
    Map<String, String[]> rows = new HashMap<>();
    try (Connection connection = mysql.connect();
        Statement statement = connection.createStatement()) {
      for (String table : CampaignTables.NAMES) {
        String key = table.equals("item") ? "CONCAT(player_id, ',', slot)" : "id";
        try (ResultSet rs =
            statement.executeQuery(
                "SELECT " + key + ", val, horns, tail, note, mood FROM " + table)) {
          while (rs.next()) {
            rows.put(
                table + ":" + rs.getString(1),
                new String[] {
                  rs.getString(2),
                  "%s,%s,%s,%s"
                      .formatted(rs.getString(3), rs.getString(4), rs.getString(5), rs.getString(6))
                });
          }
        }
      }
    }
    return rows;
  }
}

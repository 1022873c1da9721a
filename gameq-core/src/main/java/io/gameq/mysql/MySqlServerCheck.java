package io.gameq.mysql;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import java.lang.module.ModuleDescriptor.Version;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a MySQL or MariaDB server is, and whether gameq may run on it; immutable.
 *
 * @param version the server's own version string
 * @param isMariaDb told by the version string: the driver calls every server MySQL
 * @param refusals why gameq must not run on it, each with the remedy; empty when it may
 * @param warnings what works, but less safely than one may expect
 */
public record MySqlServerCheck(
    String version, boolean isMariaDb, List<String> refusals, List<String> warnings) {
  private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+)");
  private static final Version MYSQL_MIN = Version.parse("8.0.19");
  private static final Version MARIADB_MIN = Version.parse("10.6.0");

  /** A row may have 2 MiB, and its text grows where it is quoted; half of a packet is filled. */
  private static final long MIN_PACKET_BYTES = 8 << 20;

  public MySqlServerCheck {
    refusals = List.copyOf(refusals);
    warnings = List.copyOf(warnings);
  }

  /**
   * Asks the server; reads only.
   *
   * @throws io.gameq.MySqlException when the server does not answer
   */
  public static MySqlServerCheck of(MySql server) {
    // SHOW, since a server that lacks one of them answers with the others.
    Map<String, String> global = new HashMap<>();
    server.list(
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('group_replication_group_name',"
            + " 'group_replication_single_primary_mode', 'innodb_flush_log_at_trx_commit',"
            + " 'log_bin', 'binlog_format', 'max_allowed_packet')",
        rs -> global.put(rs.getString(1), rs.getString(2)));
    return judge(text(server, "VERSION()"), text(server, "@@SESSION.sql_mode"), global);
  }

  private static String text(MySql server, String expression) {
    return server.list("SELECT " + expression, rs -> rs.getString(1)).get(0);
  }

  static MySqlServerCheck judge(
      String versionText, String sessionMode, Map<String, String> global) {
    boolean isMariaDb = versionText.contains("MariaDB");
    List<String> refusals = new ArrayList<>();
    List<String> warnings = new ArrayList<>();
    if (plain(versionText).compareTo(isMariaDb ? MARIADB_MIN : MYSQL_MIN) < 0) {
      refusals.add(
          "version %s is too old: use MySQL 8.0.19 or newer, or MariaDB 10.6 or newer"
              .formatted(versionText));
    }
    for (String mode : List.of("STRICT_TRANS_TABLES", MySqlPool.ZERO_IS_A_VALUE)) {
      if (!List.of(sessionMode.split(",", -1)).contains(mode)) {
        refusals.add(
            ("the session's sql_mode lacks %s, which gameq set: a proxy between dropped it;"
                    + " have the proxy keep session variables, or connect to MySQL itself")
                .formatted(mode));
      }
    }
    if ("OFF".equals(global.get("group_replication_single_primary_mode"))
        && !global.getOrDefault("group_replication_group_name", "").isEmpty()) {
      refusals.add(
          "it belongs to a group of several primaries, which gameq does not support: run"
              + " group_replication_switch_to_single_primary_mode(), and give the primary's"
              + " address");
    }
    if (isOn(global.get("log_bin")) && "STATEMENT".equals(global.get("binlog_format"))) {
      refusals.add(
          "binlog_format is STATEMENT, which cannot log READ COMMITTED: set binlog_format to ROW");
    }
    String flush = global.getOrDefault("innodb_flush_log_at_trx_commit", "1");
    if (!flush.equals("1")) {
      warnings.add(
          ("innodb_flush_log_at_trx_commit is %s: a power loss can undo rows that gameq"
                  + " calls durable, set it to 1")
              .formatted(flush));
    }
    long packet =
        Long.parseLong(global.getOrDefault("max_allowed_packet", Long.toString(MIN_PACKET_BYTES)));
    if (packet < MIN_PACKET_BYTES) {
      warnings.add(
          String.format(
              Locale.ROOT,
              "max_allowed_packet is %,d bytes: large rows are refused and set aside, set it"
                  + " to %d or more",
              packet,
              MIN_PACKET_BYTES));
    }
    return new MySqlServerCheck(versionText, isMariaDb, refusals, warnings);
  }

  /**
   * Passes when nothing stands against this server.
   *
   * @throws GameQueueException with all refusals
   */
  public void requireUsable() {
    if (!refusals.isEmpty()) {
      throw new GameQueueException(
          "gameq cannot run on this MySQL server: " + String.join("; ", refusals));
    }
  }

  private static boolean isOn(@Nullable String value) {
    return "ON".equals(value) || "1".equals(value);
  }

  /** Old MariaDB servers put 5.5.5- before their version, for old replicas' sake. */
  private static Version plain(String version) {
    Matcher parts = VERSION.matcher(version.startsWith("5.5.5-") ? version.substring(6) : version);
    return Version.parse(parts.find() ? parts.group() : "0");
  }
}

package io.gameq.writer.mysql;

import io.gameq.mysql.JdbcValues;
import java.util.ArrayList;
import java.util.List;

/** The least rights that each user of a database needs, as GRANT statements. Stateless. */
public final class LeastGrants {
  /** Beside them nodes only read. */
  private static final List<String> WRITTEN_BY_NODES =
      List.of("gameq_owner", "gameq_layout", "gameq_redis_term");

  private LeastGrants() {}

  /** Of a game node. */
  public static List<String> ofNode(String database, String user) {
    List<String> grants = new ArrayList<>();
    grants.add("GRANT SELECT ON %s TO %s".formatted(all(database), user));
    for (String table : WRITTEN_BY_NODES) {
      grants.add(
          "GRANT INSERT, UPDATE ON %s.%s TO %s"
              .formatted(JdbcValues.quoted(database), table, user));
    }
    return grants;
  }

  /** Of the writer, the dead and stale commands, and gameq-recovery. */
  public static List<String> ofWriter(String database, String user) {
    return List.of(
        "GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO %s".formatted(all(database), user));
  }

  /** Of {@code schema migrate}. */
  public static List<String> ofMigration(String database, String user) {
    return List.of(
        "GRANT SELECT, INSERT, UPDATE, CREATE, ALTER ON %s TO %s".formatted(all(database), user));
  }

  /** In a right on a whole database, '_' and '%' stand for any characters. */
  private static String all(String database) {
    return JdbcValues.quoted(database.replace("_", "\\_").replace("%", "\\%")) + ".*";
  }
}

package io.gameq.mysql.tables;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.sign.ProcessIdentity;
import io.gameq.sign.Protocol.ProtocolRange;
import java.util.List;

/**
 * Nodes that were started and not closed in order, in {@code gameq_node}: whom Redis knows nothing
 * of after it was emptied. Thread-safe; all throw {@link io.gameq.MySqlException} when MySQL does
 * not answer.
 */
public final class NodeTable {
  /** More than any game has; those that were started last. */
  private static final int MOST = 10_000;

  private static final int MOST_TEXT = 255;
  private static final int MOST_DIRECTORY = 1_000;

  private final MySql mysql;

  public NodeTable(MySql mysql) {
    this.mysql = mysql;
  }

  /**
   * A node that was started.
   *
   * @param process of this start, 8 hex digits
   * @param startedMillisAgo by MySQL's clock
   * @param walDirectory on its host
   */
  public record Started(
      String process, ProcessIdentity identity, String walDirectory, long startedMillisAgo) {}

  /** Notes that a node was started; what is too long is cut. */
  public void add(String process, ProcessIdentity of, String walDirectory) {
    mysql.execute(
        "INSERT IGNORE INTO gameq_node (process, name, host, pid, wal_directory, started_at) VALUES"
            + " (?, ?, ?, ?, ?, UTC_TIMESTAMP(3))",
        process,
        AuditTable.cut(of.name(), MOST_TEXT),
        AuditTable.cut(of.host(), MOST_TEXT),
        of.pid(),
        AuditTable.cut(walDirectory, MOST_DIRECTORY));
  }

  /** Nobody needs to see to it any more; returns whether it was noted. */
  public boolean remove(String process) {
    return mysql.execute("DELETE FROM gameq_node WHERE process = ?", process) > 0;
  }

  /** All of them, those that were started last before the others. */
  public List<Started> all() {
    return mysql.list(
        "SELECT process, name, host, pid, wal_directory, TIMESTAMPDIFF(MICROSECOND, started_at,"
            + " UTC_TIMESTAMP(3)) DIV 1000 FROM gameq_node ORDER BY started_at DESC LIMIT ?",
        rs -> {
          long agoMillis = rs.getLong(6);
          long startedMillis = System.currentTimeMillis() - agoMillis;
          return new Started(
              rs.getString(1),
              new ProcessIdentity(
                  rs.getString(2),
                  rs.getString(3),
                  rs.getLong(4),
                  "?",
                  new ProtocolRange(0, 0),
                  startedMillis),
              rs.getString(5),
              agoMillis);
        },
        MOST);
  }
}

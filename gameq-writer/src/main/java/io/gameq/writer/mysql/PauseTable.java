package io.gameq.writer.mysql;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.terminal.Shown;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/** What operators paused, in {@code gameq_pause}. Stateless. */
public final class PauseTable {
  private PauseTable() {}

  /** What kind of thing is paused. */
  public enum Scope {
    /** Everything: nothing is claimed by any writer. */
    ALL,
    /** One slot: nothing of it is claimed. */
    SLOT,
    /** One table: its rows stay in Redis, other rows of the same owners go on. */
    TABLE,
    /** One writer, by name: it claims nothing. */
    WRITER
  }

  /**
   * One thing that is paused.
   *
   * @param name slot number, table or writer; empty for {@link Scope#ALL}
   * @param reason as the operator gave it; 255 characters at most
   * @param by who paused it; 128 characters at most
   */
  public record WriterPause(Scope scope, String name, String reason, String by, Instant at) {}

  /**
   * All pauses, by scope and name.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static List<WriterPause> all(MySql mysql) {
    return mysql.list(
        "SELECT scope, name, reason, paused_by, paused_at FROM gameq_pause ORDER BY scope, name",
        rs ->
            new WriterPause(
                Scope.valueOf(rs.getString(1).toUpperCase(Locale.ROOT)),
                rs.getString(2),
                rs.getString(3),
                rs.getString(4),
                Sql.instant(rs, 5)));
  }

  /**
   * Pauses something; what was paused before gets the new reason.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static void add(MySql mysql, Scope scope, String name, String reason, String by) {
    mysql.execute(
        "REPLACE INTO gameq_pause (scope, name, reason, paused_by, paused_at) VALUES (?, ?, ?, ?,"
            + " UTC_TIMESTAMP(3))",
        Shown.lower(scope),
        name,
        reason,
        by);
  }

  /**
   * Resumes something; returns whether it was paused.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static boolean remove(MySql mysql, Scope scope, String name) {
    String sql = "DELETE FROM gameq_pause WHERE scope = ? AND name = ?";
    return mysql.execute(sql, Shown.lower(scope), name) > 0;
  }
}

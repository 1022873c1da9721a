package io.gameq.mysql.tables;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.sign.ProcessIdentity;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** What operators did, in {@code gameq_audit}. Stateless. */
public final class AuditTable {
  private static final int MOST_WHO = 128;
  private static final int MOST_VIA = 64;
  private static final int MOST_TARGET = 600;
  private static final int MOST_DETAIL = 1_000;

  private AuditTable() {}

  /**
   * Who acts, and by which way: {@code command line}, or the console and the address it is at. It
   * is as true as what names him: a token, or the user that the operating system knows.
   */
  public record Actor(String who, String via) {
    /** The user of this process as the operating system has it, and its host. */
    public static Actor here() {
      return of(ProcessHandle.current().info().user().orElse("?"));
    }

    /** A user of this host. */
    public static Actor of(String user) {
      return new Actor(user + "@" + ProcessIdentity.hostName(), "command line");
    }
  }

  /**
   * One thing that was done.
   *
   * @param action in one or two words: {@code pause}, {@code dead retry}
   * @param target what it was done to: an owner, {@code table:key}, {@code slot 3}
   * @param detail what else is worth knowing, such as the reason; never a value of a row
   */
  public record Entry(
      long id, Instant at, Actor actor, String action, String target, String detail) {}

  /**
   * Remembers that something is done; to be called before it is done, so that nothing is done
   * unseen. What is too long for its column is cut.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer: then it is not to be done
   */
  public static void add(MySql mysql, Actor actor, String action, String target, String detail) {
    mysql.execute(
        "INSERT INTO gameq_audit (done_at, who, via, action, target, detail) VALUES"
            + " (UTC_TIMESTAMP(3), ?, ?, ?, ?, ?)",
        cut(actor.who(), MOST_WHO),
        cut(actor.via(), MOST_VIA),
        action,
        cut(target, MOST_TARGET),
        cut(detail, MOST_DETAIL));
  }

  /**
   * The newest entries first.
   *
   * @param before only those with a smaller id: to go on where the last page ended; or {@link
   *     Long#MAX_VALUE}
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static List<Entry> newest(MySql mysql, long before, int most) {
    return mysql.list(
        "SELECT id, done_at, who, via, action, target, detail FROM gameq_audit WHERE id < ? ORDER"
            + " BY id DESC LIMIT ?",
        rs ->
            new Entry(
                rs.getLong(1),
                Sql.instant(rs, 2),
                new Actor(rs.getString(3), rs.getString(4)),
                rs.getString(5),
                rs.getString(6),
                rs.getString(7)),
        before,
        most);
  }

  /**
   * Removes old entries, the oldest first. Writers' users may not: it is for that of {@code schema
   * migrate}.
   *
   * @param kept how long an entry stays, by MySQL's clock
   * @param most entries to remove
   * @return how many were removed: fewer than {@code most} when none is left
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static int purge(MySql mysql, Duration kept, int most) {
    return mysql.execute(
        "DELETE FROM gameq_audit WHERE done_at < UTC_TIMESTAMP(3) - INTERVAL ? SECOND ORDER BY"
            + " done_at LIMIT ?",
        kept.toSeconds(),
        most);
  }

  /** To so many characters, as MySQL counts them. */
  static String cut(String text, int most) {
    return text.codePointCount(0, text.length()) <= most
        ? text
        : text.substring(0, text.offsetByCodePoints(0, most));
  }
}

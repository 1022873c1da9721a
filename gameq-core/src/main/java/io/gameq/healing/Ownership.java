package io.gameq.healing;

import io.gameq.mysql.tables.OwnerTable.Durable;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.SessionId;
import io.gameq.terminal.Shown;
import org.jspecify.annotations.Nullable;

/** Whether a row may be replayed, by who owns its owner now. Stateless. */
public final class Ownership {
  private Ownership() {}

  /** What is to be done with a row. */
  public sealed interface Verdict {}

  /**
   * It may be put back.
   *
   * @param under the session that owns
   * @param restore whether MySQL has lost that session
   */
  public record Replayable(SessionId under, boolean restore) implements Verdict {}

  /** A later session opened the owner without it. */
  public record Conflict(String reason) implements Verdict {}

  /**
   * Judges one row.
   *
   * <p>MySQL holding an older session of the owner than WALs do means that MySQL lost commits in a
   * failover: the WALs' newest session is restored, and everything from the session that MySQL
   * still knows on is put back under it.
   *
   * @param row the session that wrote the row last
   * @param newest the newest session of the owner in the WALs
   * @param durable what MySQL holds
   * @param inRedis the session that owns as far as Redis knows
   */
  public static Verdict judge(
      SessionId row, SessionId newest, @Nullable Durable durable, @Nullable SessionId inRedis) {
    if (row.isInbox()) {
      return new Replayable(row, false); // whoever has the owner
    }
    if (durable == null) {
      return under(newest, true, row, inRedis);
    }
    CountingSessions sessions = durable.sessions();
    boolean lost = isNewer(newest, sessions.newest());
    if (!CountingSessions.counts(sessions, row) && !(lost && isNewer(row, sessions.newest()))) {
      return new Conflict(
          "session %s of node %s has owned since %s UTC, later than %s of this change"
              .formatted(
                  sessions.newest().text(),
                  Shown.text(durable.node()),
                  Shown.utc(durable.openedAt()),
                  row.text()));
    }
    return under(lost ? newest : sessions.holder(inRedis), lost, row, inRedis);
  }

  private static Verdict under(
      SessionId under, boolean lost, SessionId row, @Nullable SessionId inRedis) {
    if (inRedis != null && inRedis.text().compareTo(under.text()) > 0) {
      return new Conflict(
          "session %s owns in Redis, later than %s of this change; MySQL does not know it"
              .formatted(inRedis.text(), row.text()));
    }
    return new Replayable(under, lost);
  }

  /** By epoch alone: of one epoch, none is newer. */
  private static boolean isNewer(SessionId session, SessionId than) {
    return Long.compareUnsigned(session.epoch(), than.epoch()) > 0;
  }
}

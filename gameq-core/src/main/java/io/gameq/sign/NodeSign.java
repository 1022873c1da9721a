package io.gameq.sign;

/**
 * What a node says of itself. Immutable.
 *
 * @param phase what it is doing
 * @param protocol in which it writes
 * @param mysql whether MySQL answered when it was asked last
 */
public record NodeSign(
    ProcessIdentity process,
    String phase,
    long protocol,
    boolean mysql,
    Sessions sessions,
    Commits commits,
    Wal wal,
    Healings healings) {
  /** It takes commits. */
  public static final String RUNNING = "running";

  /** Its sender died: it has to be closed and started again. */
  public static final String FAILED = "failed";

  /** It was closed before all it committed was known to be in MySQL: its WAL is kept. */
  public static final String CLOSED = "closed";

  /**
   * Owners that it has.
   *
   * @param sessions that are open
   * @param sessionsLost that other nodes took over, since it started
   */
  public record Sessions(long sessions, long sessionsLost) {}

  /**
   * What was committed, since it started.
   *
   * @param commits that Redis took
   * @param rows of these
   * @param merged rows that replaced one which waited for MySQL
   * @param waiting commits that Redis has not answered
   * @param room how much of the room for these is in use, 0 to 1
   */
  public record Commits(long commits, long rows, long merged, long waiting, double room) {}

  /**
   * Its WAL.
   *
   * @param walDirectory on its host
   * @param walMaxBytes at which it refuses commits
   * @param journaled commits that the WAL has and Redis has not answered
   * @param oldestMillis how long the oldest change waits that is not known to be in MySQL: the WAL
   *     is needed from there on; 0 when there is none
   */
  public record Wal(
      String walDirectory, long walBytes, long walMaxBytes, long journaled, long oldestMillis) {}

  /**
   * What it put back after Redis lost it, since it started.
   *
   * @param heals how often
   * @param healedMillis when the last time, ms since 1970; 0 for never
   * @param replayed records of the WAL
   * @param conflicts rows that it reported as lost
   */
  public record Healings(long heals, long healedMillis, long replayed, long conflicts) {}
}

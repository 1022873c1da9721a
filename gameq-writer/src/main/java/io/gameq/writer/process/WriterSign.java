package io.gameq.writer.process;

import io.gameq.sign.ProcessIdentity;

/**
 * What a writer says of itself. Immutable.
 *
 * @param phase what it is doing: {@link #RUNNING}, {@link #QUIET}, {@link #PAUSED}, {@link
 *     #STOPPING}
 * @param outage whether MySQL is away
 * @param parked tables that take no rows now, their names, separated by commas
 */
public record WriterSign(
    ProcessIdentity process, String phase, boolean outage, String parked, Work work) {
  public static final String RUNNING = "running";

  /** An operator paused this writer: it claims nothing, others go on. */
  public static final String QUIET = "quiet";

  /** An operator paused everything: no writer claims anything. */
  public static final String PAUSED = "paused";

  /** It finishes what it has claimed, and claims nothing else. */
  public static final String STOPPING = "stopping";

  /**
   * What it does.
   *
   * @param workers its threads
   * @param claims owners that it has claimed and not flushed yet
   * @param flushes transactions that were committed since it started
   * @param rows written since it started, deletes included
   * @param rowsPerSecond in the seconds before
   * @param flushedMillis when the last flush was committed, ms since 1970; 0 for never
   * @param deadLetters rows that it set aside since it started
   * @param busiest owners of which it wrote most rows in the last minute: a line "rows owner" each
   */
  public record Work(
      long workers,
      long claims,
      long flushes,
      long rows,
      double rowsPerSecond,
      long flushedMillis,
      long deadLetters,
      String busiest) {}
}

package io.gameq.mysql;

/**
 * How large statements are, and how long they may take; immutable.
 *
 * @param rows most rows of one statement
 * @param bytes most bytes of the rows of one statement that has more than one; what it takes to
 *     send them counts as its time
 * @param seconds that a statement may take, else it is ended and fails as {@link ErrorKind#SLOW}; 0
 *     for no limit
 * @param secondsOfOneRow the same of a statement with a single row
 */
public record StatementLimits(int rows, int bytes, int seconds, int secondsOfOneRow) {
  /** 5,000 rows a statement gain nothing over 1,000. */
  private static final int MOST_ROWS = 512;

  /** Larger statements gain nothing. */
  private static final int MOST_BYTES = 4 << 20;

  public static final StatementLimits NONE = new StatementLimits(MOST_ROWS, MOST_BYTES, 0, 0);

  public StatementLimits withSecondsOfOneRow(int newSeconds) {
    return new StatementLimits(rows, bytes, seconds, newSeconds);
  }

  public int secondsFor(int rowsOfStatement) {
    return rowsOfStatement == 1 ? secondsOfOneRow : seconds;
  }
}

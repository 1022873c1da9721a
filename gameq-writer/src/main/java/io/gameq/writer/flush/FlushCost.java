package io.gameq.writer.flush;

/**
 * What of a flush's duration does not depend on its rows, by the flushes of late: a line through
 * them, in which each counts a little less with every later one. Not thread-safe.
 */
final class FlushCost {
  /** Of the weight of a flush, what is left with the next one: the last thirty or so count. */
  private static final double DECAY = 0.97;

  /** A flush that took so many times longer or shorter than the line says begins a new one. */
  private static final double NEW_LINE_TIMES = 2;

  /**
   * While all flushes are of one size, every line through them fits: then a flush of no rows is
   * taken to cost nothing. As soon as sizes differ, this fiftieth of a flush does not matter.
   */
  private static final double WEIGHT_OF_NOTHING = 0.02;

  private double weight;
  private double rows;
  private double seconds;
  private double squares;
  private double products;

  void add(int ofRows, double ofSeconds) {
    double expected = fixedSeconds() + secondsOfOneRow() * ofRows;
    boolean isOff = ofSeconds > NEW_LINE_TIMES * expected || NEW_LINE_TIMES * ofSeconds < expected;
    double kept = isOff ? 0 : DECAY; // else what MySQL was like would bend what it is like now
    weight = weight * kept + 1;
    rows = rows * kept + ofRows;
    seconds = seconds * kept + ofSeconds;
    squares = squares * kept + (double) ofRows * ofRows;
    products = products * kept + ofRows * ofSeconds;
  }

  /** How long a flush of next to no rows takes, s; 0 when nothing is known. */
  double fixedSeconds() {
    return Math.max(0, meanSeconds() - secondsOfOneRow() * meanRows());
  }

  private double secondsOfOneRow() {
    double variance = squares / all() - meanRows() * meanRows();
    return variance <= 0
        ? 0
        : Math.max(0, (products / all() - meanRows() * meanSeconds()) / variance);
  }

  private double all() {
    return weight + WEIGHT_OF_NOTHING;
  }

  private double meanRows() {
    return rows / all();
  }

  private double meanSeconds() {
    return seconds / all();
  }
}

package io.gameq.change;

/**
 * A commit that moved rows, as later changes of these rows refer to it. Thread-safe.
 *
 * <p>A row that was received tells of that in every later image, in the version of the commit,
 * which the sender gives it; what Redis refused says nothing.
 */
public final class Trade {
  private volatile long version;
  private volatile boolean failed;

  void setVersion(long version) {
    this.version = version;
  }

  /** The commit did not take place, as far as is known. */
  public void fail() {
    failed = true;
  }

  public boolean hasFailed() {
    return failed;
  }

  /** Of the moved rows on both sides; 0 before the commit was journaled, and when it failed. */
  public long version() {
    return failed ? 0 : version;
  }
}

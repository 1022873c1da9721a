package io.gameq.healing;

/** What became of the newest change of a row. */
public enum Status {
  /** MySQL holds it, or a newer version of the row, or a newer delete. */
  IN_MYSQL("in MySQL", false),
  /** Redis holds it, or a newer version, where writers will flush it. */
  IN_REDIS("in Redis, to be flushed by writers", false),
  /** MySQL refused it, or a newer version. */
  DEAD_LETTER("dead letters: MySQL refused them, see 'gameq-writer dead list'", true),
  /** An operator gave it up, or a newer version, by 'dead discard' or 'stale discard'. */
  DISCARDED("discarded by 'dead discard' or 'stale discard'", false),
  /** Nobody holds it, and its session still owns: replay puts it back. */
  LOST("LOST: replay puts them back", true),
  /** Nobody holds it yet, but its node is alive, which puts it back by itself. */
  LIVE("missing, of nodes that are ALIVE and heal themselves", true),
  /** Nobody holds it, and a later session opened the owner without it. */
  CONFLICT("CONFLICTS: a later session opened the owner without them", true),
  /** Redis holds it under a session that lost its owner: it is never flushed. */
  PARKED("parked in Redis under a session that lost its owner", true),
  /** Deletes from before the tombstone horizon are forgotten: it could bring a deleted row back. */
  TOO_OLD("REFUSED: older than the deletes that MySQL remembers", true),
  /** Its table is not managed any more, or its columns do not fit. */
  UNREADABLE("not readable: table or columns have changed", true),
  /** The same version is there with other columns: only verify looks. */
  OTHER_CONTENT("DIFFERENT: the same version with other values", true);

  private final String text;
  private final boolean calls;

  Status(String text, boolean calls) {
    this.text = text;
    this.calls = calls;
  }

  /** For a summary, after a number. */
  public String text() {
    return text;
  }

  /** Whether somebody has to act, or to wait and look again. */
  public boolean callsForAction() {
    return calls;
  }

  /** Whether {@code replay --conflicts apply} writes it. */
  public boolean isConflict() {
    return this == CONFLICT || this == PARKED;
  }
}

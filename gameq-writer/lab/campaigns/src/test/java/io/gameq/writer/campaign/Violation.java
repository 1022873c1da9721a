package io.gameq.writer.campaign;

/** A promise that was broken; immutable. */
public record Violation(Kind kind, String what) {
  public enum Kind {
    /** An acknowledged change is nowhere. */
    LOST,
    /** An older value than the newest acknowledged one. */
    STALE,
    /** A column that was set back to its default by a node that does not know it. */
    RESET,
    /**
     * A deleted row, a failed commit, the write of a session without ownership or what was reported
     * as lost is there.
     */
    RESURRECTED
  }

  @Override
  public String toString() {
    return kind + ": " + what;
  }
}

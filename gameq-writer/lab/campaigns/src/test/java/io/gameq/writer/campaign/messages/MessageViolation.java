package io.gameq.writer.campaign.messages;

/** A promise about messages that was broken; immutable. */
public record MessageViolation(Kind kind, String what) {
  /** Which promise. */
  public enum Kind {
    /** Published, and neither handled nor a dead letter. */
    LOST,
    /** Refused or deleted, and handled all the same; or handled, and nobody published it. */
    REVIVED,
    /** Handled twice, and no lease had run out. */
    TWICE,
    /** Two handlers had one key or group within their leases. */
    TOGETHER,
    /** A group was not handled by due time. */
    ORDER,
    /** A later take has no higher number. */
    FENCE,
    /** Rows of {@code ackWith} that were changed twice, or not at all. */
    ROWS,
    /** Handled by a session of another owner, or in another group. */
    STRANGER,
    /** A commit of which a part was applied. */
    HALF,
    /** A dead letter that had attempts left. */
    DEAD,
    /** Handled before it was due, or within three seconds after a failover. */
    EARLY
  }

  @Override
  public String toString() {
    return "message " + kind + ": " + what;
  }
}

package io.gameq.recovery.redis;

/**
 * What WALs whose nodes are gone have of messages.
 *
 * @param changes publishes, acknowledgements and the like
 * @param lacking of these, those that Redis does not hold
 * @param tooOld those that Redis may or may not have held: they are older than it remembers, and
 *     are not put back
 */
public record MessageTotals(long changes, long lacking, long tooOld) {
  /** None, or not asked for. */
  public static final MessageTotals NONE = new MessageTotals(0, 0, 0);

  MessageTotals plus(long moreChanges, long moreLacking, long moreTooOld) {
    return new MessageTotals(changes + moreChanges, lacking + moreLacking, tooOld + moreTooOld);
  }
}

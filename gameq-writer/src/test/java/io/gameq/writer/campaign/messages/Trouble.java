package io.gameq.writer.campaign.messages;

/**
 * What a case did, as far as it excuses anything; immutable.
 *
 * @param from when its faults began, in nanos
 * @param until when they were healed
 * @param forgets whether Redis lost what it had acknowledged
 * @param stalls whether nodes were killed or stopped meanwhile: what only they know of what was
 *     forgotten may come late
 */
public record Trouble(long from, long until, boolean forgets, boolean stalls) {
  /** Nothing was done. */
  public static final Trouble NONE = new Trouble(Long.MAX_VALUE, Long.MIN_VALUE, false, false);

  boolean overlaps(long since, long to) {
    return since <= until && to >= from;
  }

  /** Whether Redis may not have known what was acknowledged before that moment. */
  boolean hides(long before) {
    return forgets && stalls && before >= from;
  }
}

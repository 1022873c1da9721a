package io.gameq.writer.campaign.messages;

import java.util.List;

/**
 * What a case did, as far as it excuses anything; immutable.
 *
 * @param from when its faults began, in nanos
 * @param until when they were healed
 * @param putBackAt when the last node had put back what it knows of what Redis lost
 * @param forgetsAt when Redis lost what it had acknowledged since {@code from}; never, if it is
 *     {@link Long#MAX_VALUE}
 * @param stalls whether nodes were killed or stopped meanwhile: what only they know of what was
 *     forgotten may come late
 * @param leaps when Redis' clock went ahead: leases end then, and what waits falls due
 */
public record Trouble(
    long from, long until, long putBackAt, long forgetsAt, boolean stalls, List<Leap> leaps) {
  /** Redis' clock went ahead at some moment of these nanos; immutable. */
  public record Leap(long from, long until) {}

  /** One in which Redis' clock did not go ahead. */
  public Trouble(long from, long until, long putBackAt, long forgetsAt, boolean stalls) {
    this(from, until, putBackAt, forgetsAt, stalls, List.of());
  }

  /** Nothing was done. */
  public static final Trouble NONE = notForgetting(Long.MAX_VALUE, Long.MIN_VALUE);

  /** Redis forgets nothing. */
  public static Trouble notForgetting(long from, long until) {
    return new Trouble(from, until, from, Long.MAX_VALUE, false);
  }

  /** The same, and Redis' clock went ahead meanwhile. */
  public Trouble with(List<Leap> clockLeaps) {
    return new Trouble(from, until, putBackAt, forgetsAt, stalls, clockLeaps);
  }

  boolean leaps(long since, long to) {
    return leaps.stream().anyMatch(leap -> since <= leap.until() && to >= leap.from());
  }

  boolean overlaps(long since, long to) {
    return since <= until && to >= from;
  }

  boolean forgets() {
    return forgetsAt != Long.MAX_VALUE;
  }

  /** Whether Redis may have forgotten what it had acknowledged at that moment. */
  boolean forgot(long acknowledgedAt) {
    return forgets() && acknowledgedAt >= from;
  }

  /** Whether Redis may not have known what was acknowledged before that moment. */
  boolean hides(long before) {
    return stalls && forgot(before);
  }
}

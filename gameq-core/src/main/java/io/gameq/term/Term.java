package io.gameq.term;

/**
 * The primary that counts, and its number.
 *
 * @param number 0 when none has counted yet
 * @param formerRunId of the primary before it
 * @param silentMillis since its last sign of life, by MySQL's clock
 */
public record Term(
    long number,
    String runId,
    String replId,
    String address,
    long sentinelEpoch,
    String formerRunId,
    String formerReplId,
    long silentMillis) {
  /** The number of whoever cannot tell primaries apart: nothing is compared. */
  public static final long NOT_KNOWN = -1;

  /** Whether rows or sessions that came by way of a term's primary may still be written. */
  public static boolean counts(long ofConnection, long current) {
    return ofConnection == NOT_KNOWN || ofConnection == current;
  }

  private boolean isBySentinel() {
    return sentinelEpoch != Primary.NO_SENTINEL;
  }

  /** What a primary is to this term. */
  enum Relation {
    SAME,
    NEWER,
    OLDER
  }

  /**
   * After so long without a sign of life a primary of which nothing is known may take over: nodes
   * give one every three seconds.
   */
  static final long SILENT_MILLIS = 15_000;

  /**
   * What a primary is to this term, which was read before it was connected to: so whoever answers
   * at the term's own address was started after the term's primary.
   */
  Relation relation(Primary seen) {
    if (number > 0 && runId.equals(seen.runId())) {
      return Relation.SAME;
    }
    if (number == 0 || tookOver(seen)) {
      return Relation.NEWER;
    }
    boolean isFormer = formerRunId.equals(seen.runId()) && formerReplId.equals(seen.replId());
    return isFormer || silentMillis < SILENT_MILLIS ? Relation.OLDER : Relation.NEWER;
  }

  /**
   * Refuses a primary that does not count, and cannot take over either.
   *
   * @throws TermMovedException with the remedy
   */
  public void refuseDemoted(Primary seen) {
    if (seen.isKnown() && relation(seen) == Relation.OLDER) {
      throw demoted(seen);
    }
  }

  TermMovedException demoted(Primary seen) {
    return new TermMovedException(
        ("Redis at %s does not count: the one at %s does, as number %s; if that one is"
                + " gone for good, this one counts %s s after its last sign of life")
            .formatted(seen.address(), address, number, SILENT_MILLIS / 1_000));
  }

  /** Whether there is proof. */
  private boolean tookOver(Primary seen) {
    if (isBySentinel() && seen.isBySentinel()) {
      return seen.sentinelEpoch() > sentinelEpoch
          || (seen.sentinelEpoch() == sentinelEpoch && seen.address().equals(address));
    }
    if (seen.isBySentinel() || replId.equals(seen.formerReplId())) {
      return true;
    }
    boolean isFormer = formerRunId.equals(seen.runId()) && formerReplId.equals(seen.replId());
    return !isBySentinel() && !isFormer && seen.address().equals(address);
  }
}

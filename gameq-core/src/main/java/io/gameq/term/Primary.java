package io.gameq.term;

/**
 * A Redis primary, as one connection sees it.
 *
 * @param runId new at every start of the process; empty when the server does not tell
 * @param replId names its history of writes: new when it is promoted, and now and then otherwise
 * @param formerReplId the history that it went on from; another primary's when it was promoted
 * @param address under which it was reached
 * @param sentinelEpoch Sentinel's config-epoch, which rises with every failover; {@link
 *     #NO_SENTINEL} without Sentinel
 */
public record Primary(
    String runId, String replId, String formerReplId, String address, long sentinelEpoch) {
  public static final long NO_SENTINEL = -1;

  /** Whether it can be told from other primaries; some proxies and hosted servers hide that. */
  boolean isKnown() {
    return !runId.isEmpty();
  }

  /**
   * Whether its history goes on from another one's: Redis clears what tells of that when it calls
   * its history anew by itself, as after an hour without a replica.
   */
  boolean wentOnFromAnother() {
    return !formerReplId.matches("0*");
  }

  boolean isBySentinel() {
    return sentinelEpoch != NO_SENTINEL;
  }
}

package io.gameq.redis.script;

/**
 * What waits in one slot. Immutable.
 *
 * @param nowMillis Redis TIME when it was looked at, ms since 1970
 * @param due owners with rows whose merge window lasts or is over
 * @param overdue of these, those that may be claimed by now
 * @param ready owners that a claim left for the next one
 * @param claimed owners whose rows a writer has
 * @param lapsed of these, those whose lease ran out
 * @param oldestMillis since when, at least, the owner waits who has waited for longest, ms since
 *     1970; 0 when nobody waits. One row each of those who are next is looked at, and the end of
 *     the first merge window: rows of another owner may be older
 * @param counted owners whose rows were counted
 * @param countedRows their rows
 * @param stale sessions that committed after they had lost ownership
 * @param closing owners that were closed while rows waited
 * @param healing owners of which rows may be missing until their node has put them back
 * @param foreign keys of this slot that hold values of somebody else
 */
public record Waiting(
    int slot,
    long nowMillis,
    long due,
    long overdue,
    long ready,
    long claimed,
    long lapsed,
    long oldestMillis,
    long counted,
    long countedRows,
    long stale,
    long closing,
    long healing,
    long foreign) {
  /** Owners with rows that are not in MySQL; one who commits while he is claimed counts twice. */
  public long owners() {
    return due + ready + claimed;
  }

  /** How long the oldest waits, at least, ms; 0 when nobody does. */
  public long oldestAgeMillis() {
    return oldestMillis == 0 ? 0 : Math.max(0, nowMillis - oldestMillis);
  }
}

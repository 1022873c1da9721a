package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import java.util.Set;

/**
 * An owner with rows that are not in MySQL yet. Immutable.
 *
 * @param dirty rows that no writer has, as far as they were counted
 * @param claimed rows that a writer has, as far as they were counted
 * @param attempts how often these were claimed and not written, not counting outages
 * @param refusedForMillis how long ago MySQL first refused one of them; 0 if it never did
 * @param tables of the rows that were counted
 */
public record Unwritten(
    OwnerId owner,
    long dirty,
    long claimed,
    long attempts,
    long refusedForMillis,
    Set<String> tables) {
  public Unwritten {
    tables = Set.copyOf(tables);
  }

  public long rows() {
    return dirty + claimed;
  }
}

package io.gameq.healing;

import io.gameq.wal.WalRecord;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Records that a replay has passed and not sent. Immutable.
 *
 * @param undecided trades, by sequence, of which a session that is lost has one half: half a trade
 *     would make something twice, or destroy it
 * @param givenUp sequences of trades of which one half is lost with its session and adopted by
 *     none, and of what the WAL cannot give back
 */
public record NotReplayed(Map<Long, WalRecord> undecided, Set<Long> givenUp) {
  public static final NotReplayed NONE = new NotReplayed(Map.of(), Set.of());

  NotReplayed plus(Map<Long, WalRecord> moreUndecided, Collection<Long> moreGivenUp) {
    if (moreUndecided.isEmpty() && moreGivenUp.isEmpty()) {
      return this;
    }
    Map<Long, WalRecord> all = new TreeMap<>(undecided);
    all.putAll(moreUndecided);
    Set<Long> gone = new TreeSet<>(givenUp);
    gone.addAll(moreGivenUp);
    return new NotReplayed(all, gone);
  }

  /** The undecided ones are decided, but for these. */
  NotReplayed left(Map<Long, WalRecord> stillUndecided) {
    return new NotReplayed(stillUndecided, givenUp);
  }

  /** What a replay that begins again sends again. */
  Set<Long> sequences() {
    Set<Long> all = new TreeSet<>(givenUp);
    all.addAll(undecided.keySet());
    return all;
  }

  @Override
  public String toString() {
    return undecided.keySet() + " " + givenUp;
  }
}

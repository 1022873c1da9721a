package io.gameq.durability;

import io.gameq.durability.DurableFutures.Share;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongFunction;

/**
 * Rows of one session that never get to MySQL, remembered for futures that are asked for later: the
 * last {@value #MOST_REMEMBERED}. Used under the {@link DurableTracker}'s lock.
 */
final class GoneRows {
  private static final int MOST_REMEMBERED = 1_000;

  private final Map<String, Gone> rows = new LinkedHashMap<>();

  /**
   * A row that did not get to MySQL.
   *
   * @param version up to which it did not
   * @param alsoBefore whether it did not in older versions either
   * @param durableBefore version up to which everything had been durable by then
   */
  record Gone(
      String reason, boolean mayComeBack, long version, boolean alsoBefore, long durableBefore) {
    private boolean hits(String key, Share share) {
      return share.isHitBy(key, version)
          && share.highest() > durableBefore
          && (alsoBefore || share.highest() >= version);
    }
  }

  /**
   * Remembers rows.
   *
   * @param versions by row key
   * @param as what of a row in a version
   */
  void remember(Map<String, Long> versions, LongFunction<Gone> as) {
    versions.forEach((key, version) -> rows.put(key, as.apply(version)));
    for (Iterator<String> it = rows.keySet().iterator(); rows.size() > MOST_REMEMBERED; ) {
      it.next();
      it.remove();
    }
  }

  /** Those because of which this share never gets to MySQL, with their versions. */
  SortedMap<String, Long> of(Share share) {
    SortedMap<String, Long> hits = new TreeMap<>();
    rows.forEach(
        (key, gone) -> {
          if (gone.hits(key, share)) {
            hits.put(key, gone.version);
          }
        });
    return hits;
  }

  Gone get(String key) {
    return Objects.requireNonNull(rows.get(key));
  }
}

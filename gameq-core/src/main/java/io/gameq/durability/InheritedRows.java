package io.gameq.durability;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one session that a later session of this node adopted: while that one owns, it puts
 * them back if Redis loses them. Used under the {@link DurableTracker}'s lock.
 */
final class InheritedRows {
  /** The next session of this node that adopted rows of this one; null when none has. */
  private @Nullable DurableTracker heir;

  /** Rows that the heir adopted in the version that this session waits for, or a newer one. */
  private final Map<String, Long> adopted = new HashMap<>();

  boolean hasHeir() {
    return heir != null;
  }

  /**
   * A later session adopted rows.
   *
   * @param versions in which it adopted them
   * @param keys of those that this session waits for
   */
  void inherit(DurableTracker later, Map<String, Long> versions, Collection<String> keys) {
    heir = later;
    keys.forEach(key -> adopted.put(key, versions.get(key)));
  }

  /**
   * Whether the heir has the row in this version or a newer one, and keeps it. The heir's lock is
   * taken with the earlier session's held, never the other way round.
   */
  boolean has(String key, long version) {
    Long newest = adopted.get(key);
    return heir != null && newest != null && version <= newest && heir.keeps(key, newest);
  }
}

package io.gameq.topic;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message as {@link Topic#get} and {@link Topic#list} found it. Immutable.
 *
 * @param key as it was published
 * @param group as it was published; null when it has none
 * @param payload the latest; null when it cannot be read as one of this topic
 * @param version higher for a later payload of the key
 * @param priority of the latest publish
 * @param state what it waits for
 * @param since when its pending message was first published; of a recurring one, its occurrence
 * @param due of a pending message, when it is due; of a held one, when its lease ends; of a dead
 *     letter, when it was set aside
 * @param attempts that began
 * @param error of a dead letter, or of the last attempt of one that is tried again; null of others
 */
public record Message<T>(
    String key,
    @Nullable String group,
    @Nullable T payload,
    long version,
    int priority,
    State state,
    Instant since,
    Instant due,
    int attempts,
    @Nullable String error) {
  /** What a message waits for. */
  public enum State {
    /** For its time, or for a handler. */
    PENDING,
    /** For its handler to finish. */
    HELD,
    /** For somebody who mends it: its last attempt failed. */
    DEAD
  }
}

package io.gameq.writer.topics;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where one message is: it can be held, pending and dead at a time, in different versions.
 * Immutable.
 *
 * @param group null when it has none
 * @param slot of the namespace that it lies in
 * @param places nothing when it is nowhere
 * @param ahead how many of its group are handled before it; at most {@link #MOST_AHEAD}
 * @param nowMillis when it was looked for, Redis TIME in ms
 */
public record MessageTrace(
    String topic,
    @Nullable String group,
    String key,
    int slot,
    List<ListedMessage> places,
    long ahead,
    MessageNext next,
    long nowMillis) {
  /** Of a group, so many are looked at. */
  static final int MOST_AHEAD = 1_000;

  public MessageTrace {
    places = List.copyOf(places);
  }
}

package io.gameq.writer.topics;

import io.gameq.GameQueueException;
import java.util.Locale;

/** In which list of a topic messages are looked for. */
public enum MessageState {
  /** They wait, for their time or for a handler; of a group the one that is next. */
  PENDING,
  /** Those of them that are taken next: of a topic with priorities in that order. */
  READY,
  /** A handler has them. */
  HELD,
  /** Set aside. */
  DEAD;

  /** Reads a name; throws GameQueueException when it is none. */
  public static MessageState of(String name) {
    try {
      return valueOf(name.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new GameQueueException("a state is pending, ready, held or dead");
    }
  }

  /** As it is shown. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}

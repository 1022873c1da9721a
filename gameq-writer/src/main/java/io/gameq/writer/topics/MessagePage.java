package io.gameq.writer.topics;

import java.util.List;

/**
 * Some messages of a topic, slot after slot; in a slot by their times, dead ones by their ids.
 * Immutable.
 *
 * @param next goes on where this page ends; empty when it was the last
 * @param nowMillis when it was read, Redis TIME in ms
 */
public record MessagePage(List<ListedMessage> messages, String next, long nowMillis) {
  public MessagePage {
    messages = List.copyOf(messages);
  }
}

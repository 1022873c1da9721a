package io.gameq.redis.topic;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.change.SlotMessages;
import io.gameq.message.MessageChange;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Who ended messages of which leases had run out, as {@code batches.lua} notes it: an
 * acknowledgement that was not answered, of one who held such a message before, came too late.
 * Reads what a topic's slot has when it is first asked about, at most 10,000 notes. One thread.
 */
public final class EndedMessages {
  private static final List<String> KEYS = List.of("ended:before", "ended");

  private final RedisConnection redis;
  private final SlotKeys[] slots;
  private final Map<String, Map<String, String>> known = new HashMap<>();

  /** Of a namespace; the connection is used by no other thread meanwhile. */
  public EndedMessages(RedisConnection redis, SlotKeys[] slots) {
    this.redis = redis;
    this.slots = slots;
  }

  /**
   * Whether one of the messages that a commit acknowledges was ended by another one.
   *
   * @throws io.gameq.GameQueueException when Redis does not answer
   */
  public boolean areOfOthers(List<SlotMessages> messages) {
    for (SlotMessages of : messages) {
      for (MessageChange change : of.changes()) {
        if (change instanceof MessageChange.Ack ack && isOfAnother(ack)) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean isOfAnother(MessageChange.Ack ack) {
    String field = "%s %016x %d";
    String by =
        notes(ack)
            .get(field.formatted(ack.id().id(), ack.handledVersion(), ack.occurrenceMillis()));
    return by != null && !by.equals(ack.token());
  }

  private Map<String, String> notes(MessageChange.Ack ack) {
    String topic = ack.id().topic();
    return known.computeIfAbsent(
        ack.slot() + " " + topic,
        unused -> {
          Map<String, String> notes = new HashMap<>();
          for (String key : KEYS) {
            redis
                .sync()
                .hgetall(TopicReads.key(slots[ack.slot()], topic, key))
                .forEach(
                    (of, token) -> notes.put(new String(of, UTF_8), new String(token, US_ASCII)));
          }
          return notes;
        });
  }
}

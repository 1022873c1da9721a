package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.node.NodeAccess;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.topic.ConsumerScripts;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Messages of topic "mail" of the game that may lose what Redis held. */
abstract class MessagesFixture extends RedisLossFixture {
  static final String TOPIC = "mail";

  static MessageId id(String key) {
    return MessageId.of(TOPIC, null, key);
  }

  static MessageChange publish(String key, String payload) {
    MessageId id = id(key);
    return new MessageChange.Publish(
        id, slot(id), 1, true, 0, MessageValue.encode(1, 0, "", payload.getBytes(UTF_8)));
  }

  static MessageChange ack(TakenMessage taken) {
    return new MessageChange.Ack(
        taken.id(),
        taken.slot(),
        MessageValue.version(taken.value()),
        taken.token(),
        0,
        0,
        taken.publishedAgain());
  }

  static int slot(MessageId id) {
    return id.slot(Game.SLOTS);
  }

  static CommitReceipt commit(GameQueue queue, MessageChange... changes) {
    return NodeAccess.messages(queue).commit(List.of(changes));
  }

  static void published(GameQueue queue, String key, String payload) {
    commit(queue, publish(key, payload)).awaitQueued(LONG);
  }

  private String key(int slot, String what) {
    return "{" + game.namespace + ":" + slot + "}:t:" + TOPIC + ":" + what;
  }

  /** The payloads of all pending messages by key. */
  final Map<String, String> pending() {
    Map<String, String> all = new TreeMap<>();
    for (int slot = 0; slot < Game.SLOTS; slot++) {
      redis
          .sync()
          .hgetall(key(slot, "msg").getBytes(US_ASCII))
          .forEach(
              (id, value) ->
                  all.put(
                      new MessageId(TOPIC, new String(id, US_ASCII)).key(),
                      new String(MessageValue.decode(value).payload(), UTF_8)));
    }
    return all;
  }

  /** When a pending message is due, Redis time in ms. */
  final double due(String key) {
    byte[] due = key(slot(id(key)), "due").getBytes(US_ASCII);
    return redis.sync().zscore(due, id(key).id().getBytes(US_ASCII));
  }

  /** Takes everything that is due, under a lease. */
  final List<TakenMessage> takeAll(long leaseMillis) {
    ConsumerScripts scripts =
        new ConsumerScripts(
            new TopicDefinition(TOPIC, Game.SLOTS, 0, 1, 16, leaseMillis, 0, "", false),
            SlotKeys.all(game.namespace, Game.SLOTS),
            "consumer",
            () -> 0);
    List<ConsumerScripts.Share> shares = new ArrayList<>();
    for (int slot = 0; slot < Game.SLOTS; slot++) {
      shares.add(new ConsumerScripts.Share(slot, 100));
    }
    List<TakenMessage> taken = new ArrayList<>();
    scripts.take(redis, shares, null).forEach(answer -> taken.addAll(answer.get().taken()));
    return taken;
  }

  /** Removes a message as if a consumer elsewhere had handled it. */
  final void handledElsewhere(String key) {
    int slot = slot(id(key));
    byte[] id = id(key).id().getBytes(US_ASCII);
    redis.sync().hdel(key(slot, "msg").getBytes(US_ASCII), id);
    redis.sync().zrem(key(slot, "due").getBytes(US_ASCII), id);
  }

  /** Refused commits leave no journal mark behind that proves nothing. */
  final void assertMarksProve() {
    for (SlotKeys slot : SlotKeys.all(game.namespace, Game.SLOTS)) {
      redis
          .sync()
          .hgetall(slot.journal())
          .forEach(
              (field, mark) -> {
                String name = new String(field, US_ASCII);
                String text = new String(mark, US_ASCII);
                assertTrue(
                    name.endsWith("!") || JournalMarks.parse(List.of(text), "").sequence(0) > 0,
                    () -> name + " " + text);
              });
    }
  }
}

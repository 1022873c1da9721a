package io.gameq.writer;

import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitScript.ScriptCommit;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.MessagesScript;
import io.gameq.redis.topic.ConsumerScripts;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.redis.topic.DefinedTopic;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.servers.TestServers;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Publishes, takes and fails messages as nodes do, by the scripts alone. */
final class TopicPlay implements AutoCloseable {
  private static final int ATTEMPTS = 2;
  private static final long LEASE_MILLIS = 30_000;

  final RedisConnection redis;
  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri()));
  private final String namespace;
  private final TopicTable topics;
  private final SlotKeys[] slots;
  private long sequence;

  TopicPlay(Game game) {
    this.namespace = game.namespace;
    this.topics = new TopicTable(game.mysql);
    this.redis = connector.open();
    this.slots = SlotKeys.all(namespace, Game.SLOTS);
  }

  void define(String topic, long ageMillis) {
    DefinedTopic defined = topics.define(definition(topic, ageMillis));
    DefinedTopic.put(redis, namespace, List.of(defined));
  }

  private static TopicDefinition definition(String topic, long ageMillis) {
    return new TopicDefinition(
        topic, Game.SLOTS, ageMillis, 1_000, ATTEMPTS, LEASE_MILLIS, 0, "fixed 1s", false);
  }

  private ConsumerScripts scripts(String topic) {
    return new ConsumerScripts(definition(topic, 0), slots, "n<1>", () -> 0);
  }

  void publish(String topic, @Nullable String group, String key, long afterMillis, byte[] payload) {
    MessageId id = MessageId.of(topic, group, key);
    long now = RedisClock.now(redis);
    sequence++;
    long version = (now << 16) + sequence;
    byte[] value = MessageValue.encode(now, 0, "", payload);
    MessageValue.setVersion(value, version);
    MessageChange publish =
        new MessageChange.Publish(id, id.slot(Game.SLOTS), now + afterMillis, false, 0, value);
    List<MessagesScript.Refused> refused =
        RedisReply.await(
                MessagesScript.send(
                    redis,
                    MessagesScript.WalCall.ofReplay(slots, 0),
                    List.of(),
                    List.of(new ScriptCommit(sequence, version, List.of(publish)))))
            .refused();
    if (!refused.isEmpty()) {
      throw new AssertionError(refused);
    }
  }

  List<TakenMessage> take(String topic) {
    List<ConsumerScripts.Share> all = new ArrayList<>();
    for (SlotKeys slot : slots) {
      all.add(new ConsumerScripts.Share(slot.slot(), 100));
    }
    List<TakenMessage> taken = new ArrayList<>();
    for (LuaScript.Answer<ConsumerScripts.Batch> answer : scripts(topic).take(redis, all, null)) {
      if (answer.reply() != null) {
        taken.addAll(answer.reply().taken());
      }
    }
    return taken;
  }

  /** Fails all that are due until they are dead letters. */
  void die(String topic, String error) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      List<ConsumerScripts.Failure> failures =
          take(topic).stream()
              .map(
                  of ->
                      new ConsumerScripts.Failure(of, 0, ConsumerScripts.Attempt.FAILED, error, 0))
              .toList();
      List<ConsumerScripts.NackResult> unused = scripts(topic).nack(redis, failures);
    }
  }

  @Override
  public void close() {
    connector.close();
  }
}

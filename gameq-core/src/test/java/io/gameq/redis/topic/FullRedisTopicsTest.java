package io.gameq.redis.topic;

import static io.gameq.redis.topic.ScriptedTopic.ack;
import static io.gameq.redis.topic.ScriptedTopic.id;
import static io.gameq.redis.topic.ScriptedTopic.payloads;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.lab.servers.EmbeddedRedis;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.redis.script.CommitScript.ScriptCommit;
import io.gameq.redis.script.MessagesScript;
import io.gameq.redis.script.MessagesScript.Kind;
import io.gameq.redis.topic.ConsumerScripts.NackResult;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import java.util.List;
import org.junit.jupiter.api.Test;

class FullRedisTopicsTest {
  @Test
  void publishesAreRefusedAtMaxmemoryAndConsumersGoOn() {
    try (EmbeddedRedis server = EmbeddedRedis.start();
        ScriptedTopic topic = new ScriptedTopic(server.uri())) {
      MessageId a = id("a");
      MessageId b = id("b");
      MessageId c = id("c");
      topic.send(topic.publish(a, "a", 1), topic.publish(b, "b", 1), topic.publish(c, "c", 1));
      topic.redis.sync().configSet("maxmemory", "1");
      List<TakenMessage> taken = topic.take();
      assertEquals(3, taken.size());
      assertEquals(List.of(true), topic.extend(taken.get(0), 90_000));
      ScriptCommit published = topic.commit(topic.publish(a, "a2", 1));
      ScriptCommit both = topic.commit(topic.publish(a, "a3", 1), ack(taken.get(1)));
      ScriptCommit again = topic.commit(topic.publish(b, "b2", 2));
      assertEquals(
          List.of(
              new MessagesScript.Refused(0, Kind.FULL, ""),
              new MessagesScript.Refused(2, Kind.FULL, ""),
              new MessagesScript.Refused(3, Kind.FULL, "")),
          topic.first(published, topic.commit(ack(taken.get(0))), both, again));
      assertEquals(NackResult.BACK, topic.nack(taken.get(1), 0, 16, 0));
      assertEquals(NackResult.DEAD, topic.nack(taken.get(2), 0, 1, 0));
      long version = MessageValue.version(taken.get(2).value());
      MessageId dead = taken.get(2).id();
      assertThrows(
          GameQueueException.class,
          () -> TopicMessages.retryDead(topic.redis, topic.slot(dead), dead, version, null));
      DefinedTopic paused =
          new DefinedTopic(
              7,
              new TopicDefinition("mail", 4, 0, 1, 1, 1, 0, "1s", false),
              new DefinedTopic.Pause(1, "ann", "Redis is full"),
              null);
      DefinedTopic.put(topic.redis, topic.namespace, List.of(paused));
      assertEquals(paused, DefinedTopic.find(topic.redis, topic.namespace, "mail"));
      topic.redis.sync().configSet("maxmemory", "0");
      assertEquals(List.of(), topic.again(published, again), "neither was applied");
      assertEquals(
          TopicMessages.Retried.RETRIED,
          TopicMessages.retryDead(topic.redis, topic.slot(dead), dead, version, null));
      List<String> rest = payloads(topic.take());
      assertTrue(rest.contains("a2") && rest.contains("b2"), rest.toString());
    }
  }
}

package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.redis.Slots;
import io.gameq.redis.topic.TopicMessages.TopicSurvey;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What a topic is, and that it is paused or limited, is kept whatever Redis loses. */
@Execution(ExecutionMode.CONCURRENT)
class TopicsOutliveRedisTest extends RedisLossFixture {
  private static final TopicOptions TWO_SLOTS = TopicOptions.DEFAULT.slots(2);

  /** As FLUSHALL, of this namespace. */
  private void emptyRedis() {
    RedisContents.empty(redis, game.namespace).restore();
    for (String pattern : List.of(":node:*", ":topics*")) {
      redis.sync().keys(game.namespace + pattern).forEach(redis.sync()::del);
    }
  }

  private byte[] topicsKey() {
    return (game.namespace + ":topics").getBytes(US_ASCII);
  }

  private TopicSurvey.TopicSummary survey(String topic) {
    return Objects.requireNonNull(
        TopicSurvey.of(redis, new Slots(game.namespace, Game.SLOTS), topic));
  }

  @Test
  void aTopicIsWhatItWasThoughRedisWasEmptiedAndAllNodesStartedAnew() {
    try (GameQueue one = game.node("n1")) {
      Topic<byte[]> mail = one.topic("mail", TWO_SLOTS);
      mail.pause("moving house");
      mail.rate(7, "slow");
    }
    emptyRedis();
    try (GameQueue two = game.node("n2")) {
      GameQueueException error =
          assertThrows(
              GameQueueException.class, () -> two.topic("mail", TopicOptions.DEFAULT.slots(4)));
      assertTrue(error.getMessage().contains("slots 2 -> 4"), error.getMessage());
      assertEquals(2, two.definedTopic("mail").orElseThrow().options().slots());
      assertEquals("mail", two.topic("mail", TWO_SLOTS).name());
      assertEquals("moving house", Objects.requireNonNull(survey("mail").pause()).reason());
      assertEquals(7, Objects.requireNonNull(survey("mail").rate()).perSecond());
    }
  }

  @Test
  void aPausedTopicStaysPausedThoughRedisWasEmptiedUnderLivingConnections() throws Exception {
    try (GameQueue queue = game.node("n1")) {
      Topic<byte[]> mail = queue.topic("mail", TWO_SLOTS);
      Queue<String> handled = new ConcurrentLinkedQueue<>();
      mail.pause("moving house");
      mail.subscribe(delivery -> handled.add(delivery.key()));
      mail.publish("before", "x".getBytes(UTF_8)).awaitQueued(LONG);
      emptyRedis();
      mail.publish("after", "x".getBytes(UTF_8)).awaitQueued(LONG);
      await().atMost(LONG).until(() -> redis.sync().exists(topicsKey()) > 0);
      await().atMost(LONG).until(() -> mail.counts().pending() == 2); // healed
      assertEquals(List.of(), List.copyOf(handled));
      assertTrue(survey("mail").pause() != null, "it is paused");
      mail.resume();
      await().atMost(LONG).until(() -> handled.size() == 2);
    }
  }

  @Test
  void aPauseThatAFailoverForgetsIsPutBackByTheNodesThatHeal() {
    try (GameQueue queue = nodeBehindProxy("n1")) {
      Topic<byte[]> mail = queue.topic("mail", TWO_SLOTS);
      byte[] before = redis.sync().dump(topicsKey());
      mail.pause("moving house");
      cutOff();
      redis.sync().keys(game.namespace + ":topics*").forEach(redis.sync()::del);
      redis.sync().restore(topicsKey(), 0, before);
      proxy.refuse(false);
      await().atMost(LONG).until(() -> survey("mail").pause() != null);
    }
  }
}

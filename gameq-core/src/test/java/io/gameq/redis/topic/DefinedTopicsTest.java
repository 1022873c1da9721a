package io.gameq.redis.topic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.redis.topic.TopicMessages.TopicSurvey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DefinedTopicsTest {
  private static final TopicDefinition BUILDING =
      new TopicDefinition("building", 16, 0, 65_536, 16, 30_000, 0, "1s 2s \"jitter\"", false);

  private static DefinedTopic revision(long revision, DefinedTopic.@Nullable Pause pause) {
    return new DefinedTopic(
        revision,
        BUILDING,
        pause,
        new DefinedTopic.Rate(0.001, 7, "ann", "the server\tis slow: ü"));
  }

  @Test
  void theNewestRevisionStaysWhoeverComesLate() {
    DefinedTopic running = revision(9, null);
    DefinedTopic paused = revision(16, new DefinedTopic.Pause(5, "ben", "\"moving\"\nhouse"));
    try (ScriptedTopic of = new ScriptedTopic()) {
      assertNull(DefinedTopic.find(of.redis, of.namespace, "building"));
      for (DefinedTopic one : List.of(running, paused, running)) {
        DefinedTopic.put(of.redis, of.namespace, List.of(one));
      }
      assertEquals(paused, DefinedTopic.find(of.redis, of.namespace, "building"));
      assertEquals(Map.of("building", paused), DefinedTopic.all(of.redis, of.namespace));
    }
  }

  @Test
  void aSurveySaysHowManyTopicsItLeftOut() {
    try (ScriptedTopic of = new ScriptedTopic()) {
      for (int i = 0; i < TopicSurvey.MOST_TOPICS + 5; i++) {
        of.redis
            .sync()
            .hset(
                SlotKeys.bytes(of.namespace + ":topics"),
                SlotKeys.bytes("t" + i),
                SlotKeys.bytes("damaged"));
      }
      TopicSurvey survey = TopicSurvey.of(of.redis, new Slots(of.namespace, 4));
      assertEquals(TopicSurvey.MOST_TOPICS, survey.topics().size());
      assertEquals(5, survey.left());
    }
  }

  @Test
  void whatCannotBeReadIsReplaced() {
    DefinedTopic running = revision(9, null);
    try (ScriptedTopic of = new ScriptedTopic()) {
      for (String damaged : List.of("", "zzz", BUILDING.json(), "0000000000000001")) {
        of.redis
            .sync()
            .hset(
                SlotKeys.bytes(of.namespace + ":topics"),
                SlotKeys.bytes("building"),
                SlotKeys.bytes(damaged));
        assertThrows(
            GameQueueException.class,
            () -> DefinedTopic.find(of.redis, of.namespace, "building"),
            damaged);
        DefinedTopic.put(of.redis, of.namespace, List.of(running));
        assertEquals(running, DefinedTopic.find(of.redis, of.namespace, "building"), damaged);
      }
    }
  }

  @Test
  void moreTopicsThanOneCallTakesAreAllPut() {
    List<DefinedTopic> many = new ArrayList<>();
    for (int i = 0; i < 450; i++) {
      many.add(
          new DefinedTopic(
              1, new TopicDefinition("t" + i, 1, 0, 1, 1, 1, 0, "1s", false), null, null));
    }
    try (ScriptedTopic of = new ScriptedTopic()) {
      DefinedTopic.put(of.redis, of.namespace, many);
      assertEquals(450, DefinedTopic.all(of.redis, of.namespace).size());
    }
  }

  @Test
  void aRateIsSharedOut() {
    try (ScriptedTopic of = new ScriptedTopic()) {
      ConsumerScripts scripts = of.scripts(16, 0);
      assertEquals(1, scripts.grant(of.redis, 0.001, 5).messages(), "one after a rest");
      ConsumerScripts.Grant second = scripts.grant(of.redis, 0.001, 5);
      assertEquals(0, second.messages());
      assertTrue(second.waitMillis() > 900_000, second.toString());
      ConsumerScripts.Grant unused = scripts.grant(of.redis, 0.001, -1); // gives one back
      assertEquals(1, scripts.grant(of.redis, 0.001, 5).messages(), "the one that came back");
      for (double wrong : new double[] {0, -1, 1e7, Double.NaN}) {
        assertThrows(GameQueueException.class, () -> DefinedTopic.Rate.check(wrong));
      }
    }
  }
}

package io.gameq.redis.topic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class TopicDefinitionsTest {
  @Test
  void theFirstDefinitionCountsAndADifferentOneIsAnErrorThatShowsBoth() {
    try (ScriptedTopic of = new ScriptedTopic()) {
      TopicDefinition sixteen =
          new TopicDefinition("building", 16, 0, 65_536, 16, 30_000, 0, "1s 2s \"jitter\"");
      TopicDefinition eight =
          new TopicDefinition("building", 8, 0, 65_536, 16, 30_000, 0, "1s 2s \"jitter\"");
      assertEquals(sixteen, TopicDefinitions.agree(of.redis, of.namespace, sixteen));
      assertEquals(sixteen, TopicDefinitions.agree(of.redis, of.namespace, sixteen));
      String error =
          assertThrows(
                  GameQueueException.class,
                  () -> TopicDefinitions.agree(of.redis, of.namespace, eight))
              .getMessage();
      assertTrue(error.contains(sixteen.json()) && error.contains(eight.json()), error);
      assertEquals(Map.of("building", sixteen), TopicDefinitions.all(of.redis, of.namespace));
    }
  }

  @Test
  void aTopicIsPausedWithAReasonUntilItIsResumed() {
    try (ScriptedTopic of = new ScriptedTopic()) {
      assertFalse(TopicPauses.isPaused(of.redis, of.namespace, "mail"));
      TopicPauses.pause(of.redis, of.namespace, "mail", "the mail server\tis away: ü", "ann");
      assertTrue(TopicPauses.isPaused(of.redis, of.namespace, "mail"));
      TopicPauses.Pause pause =
          Objects.requireNonNull(TopicPauses.all(of.redis, of.namespace).get("mail"));
      assertEquals("ann", pause.who());
      assertEquals("the mail server\tis away: ü", pause.reason());
      assertTrue(Math.abs(pause.sinceMillis() - of.now()) < 60_000);
      assertTrue(TopicPauses.resume(of.redis, of.namespace, "mail"));
      assertFalse(TopicPauses.resume(of.redis, of.namespace, "mail"));
    }
  }

  @Test
  void aRateIsSharedOutWithAReasonUntilItIsEnded() {
    try (ScriptedTopic of = new ScriptedTopic()) {
      assertNull(TopicRates.find(of.redis, of.namespace, "mail"));
      TopicRates.set(of.redis, of.namespace, "mail", 0.001, "the mail server\tis slow", "ann");
      TopicRates.Rate rate =
          Objects.requireNonNull(TopicRates.all(of.redis, of.namespace).get("mail"));
      assertEquals(0.001, rate.perSecond());
      assertEquals("the mail server\tis slow by ann", rate.reason() + " by " + rate.who());
      GrantScript grants = new GrantScript("mail", of.slots[0]);
      assertEquals(1, grants.call(of.redis, 0.001, 5).messages(), "one after a rest");
      GrantScript.Grant second = grants.call(of.redis, 0.001, 5);
      assertEquals(0, second.messages());
      assertTrue(second.waitMillis() > 900_000, second.toString());
      grants.giveBack(of.redis, 0.001, 1);
      assertEquals(1, grants.call(of.redis, 0.001, 5).messages(), "the one that came back");
      assertTrue(TopicRates.end(of.redis, of.namespace, "mail"));
      assertFalse(TopicRates.end(of.redis, of.namespace, "mail"));
      for (double wrong : new double[] {0, -1, 1e7, Double.NaN}) {
        assertThrows(GameQueueException.class, () -> TopicRates.check(wrong));
      }
    }
  }
}

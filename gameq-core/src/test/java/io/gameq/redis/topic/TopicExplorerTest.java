package io.gameq.redis.topic;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.redis.topic.PlantedScripts.Plant;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** With {@code -Dgameq.explorer=full} bigger casts. */
class TopicExplorerTest {
  private static final boolean FULL = System.getProperty("gameq.explorer", "").equals("full");

  /** Two of one message, which merge, or of which the second waits behind the first. */
  private static final List<String> MERGED = List.of("a", "a");

  /** Two of a group. */
  private static final List<String> GROUPED = List.of("g:x", "g:y");

  private static ScriptedTopic topic;

  @BeforeAll
  static void open() {
    topic = new ScriptedTopic();
  }

  @AfterAll
  static void close() {
    topic.close();
  }

  private static TopicExplorer explorer(Plant plant, List<String> published, int takes) {
    return new TopicExplorer(
        new PlantedScripts(topic.redis, topic.slots[0], plant), published, takes);
  }

  private static void holds(List<String> published, int takes, TopicCast cast) {
    long began = System.nanoTime();
    TopicExplorer explorer = explorer(Plant.NONE, published, takes);
    assertNull(explorer.explore(cast));
    System.out.printf(
        "topics explored: %s, %d states, %d steps, %d ends, %.1f s%n",
        published,
        explorer.states(),
        explorer.steps(),
        explorer.ends(),
        (System.nanoTime() - began) / 1e9);
  }

  @Test
  void nothingIsLostOrHandledTwiceWhateverThePublisherGoesThrough() {
    holds(MERGED, 2, new TopicCast(1, 1, 0, 0, 0));
    holds(GROUPED, 2, new TopicCast(1, 1, 0, 0, 0));
  }

  @Test
  void noLaneHasTwoHandlersWhateverConsumersGoThrough() {
    holds(MERGED, 2, new TopicCast(0, 0, 1, 0, 1));
    holds(MERGED, 2, new TopicCast(0, 0, FULL ? 1 : 0, 1, 0));
    holds(GROUPED, 2, new TopicCast(0, 0, 1, FULL ? 1 : 0, 0));
    if (FULL) {
      holds(MERGED, 2, new TopicCast(1, 1, 1, 1, 1));
      holds(GROUPED, 2, new TopicCast(1, 1, 1, 1, 1));
      for (List<String> three :
          List.of(List.of("a", "a", "a"), List.of("g:x", "g:y", "g:x"), List.of("a", "g:y", "a"))) {
        holds(three, 2, new TopicCast(1, 1, 0, 0, 0));
        holds(three, 2, new TopicCast(0, 0, 1, 0, 1));
        holds(three, 2, new TopicCast(0, 0, 0, 1, 1));
      }
    }
  }

  @Test
  void aReplayForAConsumerThatWasKilledLosesNothingBesideOthers() {
    holds(MERGED, 2, new TopicCast(0, 0, 1, 0, 1).kills(1));
    if (FULL) {
      holds(List.of("a"), 2, new TopicCast(0, 0, 2, 1, 2).kills(2));
    }
  }

  @Test
  @Tag("long")
  void aReplayForAKilledConsumerOfAGroupLosesNothingBesideOthers() {
    holds(GROUPED, 2, new TopicCast(0, 0, 1, 0, 1).kills(1));
  }

  @Test
  void anOldTokenIsAcceptedWithoutTheRuleThatComparesIt() {
    String claim = "string.find(claim, ARGV[at] .. ' ' .. ids[i] .. ' ', 1, true) == 1";
    misses("STALE TOKEN", MERGED, new TopicCast(0, 0, 1, 0, 0), claim, "true");
    misses(
        "STALE TOKEN",
        MERGED,
        new TopicCast(0, 0, 1, 1, 0),
        "claim.id == id and claim.token == token",
        "claim.id == id");
  }

  @Test
  void whatWasPutBackIsTakenForHandledWithoutTheRuleThatLooksWhetherItWasTakenBefore() {
    misses(
        "STALE TOKEN",
        MERGED,
        new TopicCast(0, 0, 1, 1, 0),
        " and redis.call('HEXISTS', t .. ':tries', id) == 0",
        "");
  }

  @Test
  void aLaneHasTwoHandlersWithoutTheRuleThatLooksWhetherItIsHeld() {
    misses(
        "TWO HANDLERS",
        MERGED,
        new TopicCast(0, 0, 0, 0, 0),
        "local stands = redis.call('HMGET', claim_key, unpack(lanes))",
        "local stands = {}");
  }

  @Test
  void whatIsSentAgainIsLostWithoutWhatWasRefusedAndHandledTwiceWithoutMarks() {
    misses(
        "LOST",
        GROUPED,
        new TopicCast(1, 1, 0, 0, 0),
        "remember_refused(wal, ARGV[6], refused, mode == AGAIN and taken or {})",
        "");
    misses(
        "ACKNOWLEDGED TWICE",
        MERGED,
        new TopicCast(0, 1, 0, 0, 0),
        "redis.call('HINCRBY', slot .. ':journal', wal, ARGV[at + 3 * i - 1])",
        "");
  }

  @Test
  void messagesAreLostWithoutTheRulesThatBringThemBack() {
    misses(
        "LOST",
        MERGED,
        new TopicCast(0, 0, 0, 1, 0),
        "redis.call('HSETNX', t .. ':msg', claim.id, value) == 1",
        "redis.call('HSET', t .. ':msg', claim.id, value) >= 0");
    String back = "local waits = value and not claim.deleted and";
    misses("LOST", MERGED, new TopicCast(0, 0, 1, 0, 0), back, "local waits = false and");
    misses(
        "LOST",
        MERGED,
        new TopicCast(0, 0, 0, 0, 0),
        "local waits = not b.grouped and redis.call('EXISTS', t .. ':behind') == 1",
        "local waits = false");
    misses(
        "LOST",
        GROUPED,
        new TopicCast(0, 0, 0, 0, 0),
        "for _, lane in ipairs(done) do set_lane_due(t, lane) end",
        "");
  }

  private static void misses(
      String what, List<String> published, TopicCast cast, String rule, String without) {
    Plant plant = new Plant(rule, rule, without);
    String wrong = explorer(plant, published, 2).explore(cast);
    assertNotNull(wrong, "nothing is wrong without " + rule);
    assertTrue(wrong.startsWith(what), rule + ": " + wrong);
  }
}

package io.gameq.redis.topic;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.redis.topic.OwnerExplorer.Fault;
import io.gameq.redis.topic.PlantedScripts.Plant;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** With {@code -Dgameq.explorer=full} bigger casts. */
class OwnerExplorerTest {
  private static final boolean FULL = System.getProperty("gameq.explorer", "").equals("full");

  private static ScriptedTopic topic;

  @BeforeAll
  static void open() {
    topic = new ScriptedTopic();
  }

  @AfterAll
  static void close() {
    topic.close();
  }

  private static OwnerExplorer explorer(Plant plant, Fault fault) {
    return new OwnerExplorer(new PlantedScripts(topic.redis, topic.slots[0], plant), fault);
  }

  private static void holds(OwnerCast cast) {
    long began = System.nanoTime();
    OwnerExplorer explorer = explorer(Plant.NONE, Fault.NONE);
    assertNull(explorer.explore(cast));
    System.out.printf(
        "owners explored: %s, %d states, %d steps, %d calls, %.1f s%n",
        cast.left(),
        explorer.states(),
        explorer.steps(),
        explorer.calls(),
        (System.nanoTime() - began) / 1e9);
  }

  @Test
  void messagesReachWhoeverHasTheOwnerOpenInOrderWhereverItMoves() {
    holds(OwnerCast.of(2, 2));
    holds(OwnerCast.of(1, 2).opener());
    if (FULL) {
      holds(OwnerCast.of(2, 3).opener().leases(1));
      holds(OwnerCast.of(3, 2).opener());
    }
  }

  @Test
  void theyReachThemWhoeverDiesOrIsSilentForLong() {
    holds(OwnerCast.of(1, 2).deaths(1));
    holds(OwnerCast.of(1, 1).opener().deaths(1));
    holds(OwnerCast.of(1, 2).stalls(1));
    if (FULL) {
      holds(OwnerCast.of(2, 2).opener().deaths(1));
      holds(OwnerCast.of(2, 2).opener().stalls(2).leases(1));
      holds(OwnerCast.of(1, 2).opener().deaths(1).stalls(1));
    }
  }

  @Test
  @Tag("long")
  void twoOfThemReachWhoeverHasTheOwnerBesideAnOpener() {
    holds(OwnerCast.of(2, 1).opener().leases(1));
    holds(OwnerCast.of(2, 1).opener().stalls(1));
  }

  @Test
  void theyReachThemWhateverWasSaidInVain() {
    holds(OwnerCast.of(1, 2).lostAnswers(1));
    holds(OwnerCast.of(1, 1).opener().lostAnswers(2));
    if (FULL) {
      holds(OwnerCast.of(2, 1).opener().lostAnswers(2));
      holds(OwnerCast.of(1, 2).opener().lostAnswers(1).stalls(1));
    }
  }

  @Test
  void theyReachThemWhateverAFailoverForgot() {
    holds(OwnerCast.of(1, 1).opener().failovers(1));
    if (FULL) {
      holds(OwnerCast.of(1, 2).opener().failovers(1));
      holds(OwnerCast.of(2, 1).opener().failovers(1).deaths(1));
      holds(OwnerCast.of(1, 1).opener().failovers(1).lostAnswers(1));
    }
  }

  // --- rules that are taken out

  @Test
  void messagesAreLeftWithoutTheRulesOfWhoSaysWhatItHandles() {
    misses(
        "NEVER",
        OwnerCast.of(1, 1),
        "if is_changed and redis.call('EXISTS', lane_key(t, lane)) == 1 then set_lane_due(t, lane)"
            + " end",
        "");
    misses("NEVER", OwnerCast.of(1, 1).stalls(1), "return {was_alive and 1 or 0}", "return {1}");
    misses("NEVER", OwnerCast.of(1, 2), "not before or string.sub(before, 1, 16) <= epoch", "true");
    String ends =
        "before and process_of(before) == process"
            + " and (epoch == '' or string.sub(before, 1, 16) <= epoch)";
    misses("NEVER", OwnerCast.of(1, 2), ends, "before");
    misses("NEVER", OwnerCast.of(1, 3), ends, "before and process_of(before) == process");
    misses(
        "NEVER",
        OwnerCast.of(1, 1).opener().failovers(1),
        ends,
        "before == epoch .. ' ' .. process");
  }

  @Test
  void messagesAreLeftWithoutTheRulesOfTakes() {
    misses(
        "NEVER",
        OwnerCast.of(1, 2),
        "redis.call('ZADD', due_key, 'XX', whole(now + LEFT_MILLIS), lane)",
        "redis.call('ZREM', due_key, lane)");
    misses(
        "NEVER",
        OwnerCast.of(1, 1).opener(),
        "redis.call('ZADD', due_key, lanes[i + 1], lanes[i])",
        "");
    misses("STUCK", OwnerCast.of(1, 1), "redis.call('ZADD', t .. ':unhandled', dues[i], lane)", "");
    misses(
        "NEVER",
        OwnerCast.of(1, 1).opener().deaths(1),
        "return math.abs(now - said[process]) < ALIVE_MILLIS",
        "return true");
    misses(
        "OUT OF ORDER",
        OwnerCast.of(2, 1),
        "whole(math.min(now, tonumber(claim.due)))",
        "whole(now)");
  }

  @Test
  void messagesAreLeftWithoutTheRulesOfNodes() {
    misses("NEVER", OwnerCast.of(1, 1).opener().failovers(1), Fault.KEEPS_STRANGERS);
    misses("NEVER", OwnerCast.of(1, 1).stalls(1), Fault.SAYS_NOTHING_AGAIN);
    misses("NEVER", OwnerCast.of(1, 2).failovers(1), Fault.SAYS_CHANGES_ALONE);
  }

  private static void misses(String what, OwnerCast cast, String rule, String without) {
    misses(what, cast, new Plant(rule, rule, without), Fault.NONE);
  }

  private static void misses(String what, OwnerCast cast, Fault fault) {
    misses(what, cast, Plant.NONE, fault);
  }

  private static void misses(String what, OwnerCast cast, Plant plant, Fault fault) {
    String wrong = explorer(plant, fault).explore(cast);
    String rule = plant.isNone() ? fault.toString() : plant.rule();
    assertNotNull(wrong, "nothing is wrong without " + rule);
    assertTrue(wrong.startsWith(what), rule + ": " + wrong);
  }
}

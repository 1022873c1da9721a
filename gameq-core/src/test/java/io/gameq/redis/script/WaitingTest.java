package io.gameq.redis.script;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.owner.OwnerId;
import io.gameq.redis.Slots;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WaitingTest {
  private static final long HOUR_MILLIS = 3_600_000;
  private static final ClaimScript CLAIM = new ClaimScript("w1", ClaimScript.Bounds.DEFAULT);

  private final SlotFixture redis = new SlotFixture();
  private Set<String> paused = Set.of();
  private Set<String> refused = Set.of();

  @AfterEach
  void close() {
    redis.close();
  }

  private SlotBacklog look() {
    return SlotBacklog.inSlots(redis.redis, new Slots(redis.namespace, 1), paused, refused).get(0);
  }

  private static String rowOf(long millis) {
    return "%016xpvalue".formatted(millis << 16);
  }

  /** Rows of another owner than the fixture's, due at a time. */
  private void commit(String owner, int rows, long committedMillis, long dueMillis) {
    OwnerId id = OwnerId.of(owner);
    for (int i = 0; i < rows; i++) {
      redis
          .redis
          .sync()
          .hset(
              redis.slot.dirty(id, redis.first),
              SlotFixture.bytes("item:" + i),
              SlotFixture.bytes(rowOf(committedMillis)));
    }
    redis
        .redis
        .sync()
        .zadd(
            redis.slot.due(),
            (double) dueMillis,
            SlotFixture.bytes(id.encoded() + ":" + redis.first.text()));
  }

  @Test
  void whereNobodyWaitsAllIsZero() {
    SlotBacklog look = look();
    assertTrue(look.nowMillis() > 1_700_000_000_000L, look::toString);
    assertEquals(new SlotBacklog(0, look.nowMillis(), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), look);
  }

  @Test
  void ownersAreCountedByWhereTheyAre() {
    long now = look().nowMillis();
    commit("player:1", 2, now - 10_000, now - 9_000);
    commit("player:2", 3, now - 4_000, now + HOUR_MILLIS);
    SlotBacklog look = look();
    assertEquals(2, look.due());
    assertEquals(1, look.overdue(), "the merge window of the other lasts");
    assertEquals(2, look.counted());
    assertEquals(5, look.countedRows());
    assertEquals(now - 10_000, look.oldestMillis(), "when its row was committed");
    assertEquals(0, look.ready() + look.claimed());
    assertTrue(look.oldestAgeMillis() >= 10_000, look::toString);
  }

  @Test
  void whoIsUrgentHidesNobodyWhoWaitsForLonger() {
    long now = look().nowMillis();
    commit("player:1", 1, now - 1_000, -5);
    commit("player:2", 1, now - 90_000, now - 89_000);
    assertEquals(now - 90_000, look().oldestMillis());
  }

  @Test
  void whatAWriterHasIsOldAsWell() {
    long now = look().nowMillis();
    redis.open(redis.first);
    redis.commit(redis.first, "item:1", rowOf(now - 7_000), now - 1_000);
    assertEquals(1, CLAIM.call(redis.redis, redis.slot).claims().size());
    SlotBacklog look = look();
    assertEquals(0, look.due());
    assertEquals(1, look.claimed());
    assertEquals(0, look.lapsed());
    assertEquals(now - 7_000, look.oldestMillis());
    assertEquals(1, look.owners());
  }

  @Test
  void aRowThatIsCommittedAgainStillWaitsSinceItWasDue() {
    long now = look().nowMillis();
    commit("player:1", 1, now - 20, now - 30_000);
    assertEquals(now - 30_000, look().oldestMillis());
  }

  @Test
  void rowsThatAreWrittenAgainHideNoneThatWaits() {
    long now = look().nowMillis();
    commit("player:1", 3, now - 20, now - 10);
    commit("player:1", 1, now - 90_000, now - 10);
    assertEquals(now - 90_000, look().oldestMillis());
    assertEquals(now - 90_000, look().oldestPassingMillis());
  }

  @Test
  void whoIsLeftAloneForLongIsSeenBehindOthers() {
    long now = look().nowMillis();
    for (int i = 0; i < 50; i++) {
      commit("player:" + i, 1, now - 100, now + 900);
    }
    commit("player:locked", 4, now - 90_000, now + 15_000);
    assertEquals(now - 90_000, look().oldestMillis());
    assertEquals(now - 100, look().oldestPassingMillis(), "he delays nobody else");
  }

  @Test
  void whoFlushesAtOnceIsDueAtZeroAndNotOld() {
    long now = look().nowMillis();
    commit("player:1", 1, now - 20, 0);
    assertEquals(now - 20, look().oldestMillis());
  }

  private void isHeldUp(String owner, long sinceMillis) {
    redis
        .redis
        .sync()
        .hset(
            SlotFixture.bytes(redis.slot.prefix() + ":claim"),
            SlotFixture.bytes(OwnerId.of(owner).encoded()),
            SlotFixture.bytes("- " + redis.first.text() + " 7 0 " + sinceMillis + " w1"));
  }

  @Test
  void whoIsHeldUpDelaysNobodyElse() {
    long now = look().nowMillis();
    commit("player:1", 1, now - HOUR_MILLIS, now - 60_000);
    assertEquals(now - HOUR_MILLIS, look().oldestPassingMillis());
    isHeldUp("player:1", now - HOUR_MILLIS);
    assertEquals(0, look().oldestPassingMillis());
    commit("player:2", 1, now - 9_000, now - 8_000);
    assertEquals(now - 9_000, look().oldestPassingMillis());
    assertEquals(now - HOUR_MILLIS, look().oldestMillis());
  }

  @Test
  void aTableThatMySqlTakesNoRowsOfHoldsUpItsRowsAlone() {
    long now = look().nowMillis();
    commit("player:1", 1, now - HOUR_MILLIS, now - 20);
    refused = Set.of("item");
    assertEquals(now - HOUR_MILLIS, look().oldestMillis());
    assertEquals(now - 20, look().oldestPassingMillis());
    refused = Set.of("other");
    assertEquals(now - HOUR_MILLIS, look().oldestPassingMillis());
  }

  @Test
  void rowsThatAreToWaitAreNotOld() {
    long now = look().nowMillis();
    commit("player:1", 3, now - HOUR_MILLIS, now - 20);
    paused = Set.of("item");
    assertEquals(now - 20, look().oldestMillis(), "since when its owner is due");
    paused = Set.of("other", "itemised");
    assertEquals(now - HOUR_MILLIS, look().oldestMillis());
  }

  @Test
  void somebodyElsesValuesAreCountedAndDisturbNothing() {
    long now = look().nowMillis();
    commit("player:1", 1, now - 5_000, now - 4_000);
    redis.redis.sync().set(redis.slot.ready(), SlotFixture.bytes("text"));
    redis.redis.sync().set(redis.slot.stale(), SlotFixture.bytes("text"));
    SlotBacklog look = look();
    assertEquals(1, look.due());
    assertEquals(1, look.countedRows());
    assertTrue(look.foreign() >= 2, look::toString);
  }

  @Test
  void manyOwnersAreNotLookedAtOneByOne() {
    long now = look().nowMillis();
    for (int i = 0; i < 50; i++) {
      commit("player:" + i, 3, now - 1_000, now - i);
    }
    SlotBacklog look = look();
    assertEquals(50, look.due());
    assertEquals(4, look.counted());
    assertEquals(12, look.countedRows());
  }
}

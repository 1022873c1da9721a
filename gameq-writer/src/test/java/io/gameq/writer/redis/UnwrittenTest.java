package io.gameq.writer.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.owner.OwnerId;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.SlotBacklog.WaitingOwners;
import io.gameq.redis.script.SlotFixture;
import io.gameq.writer.redis.UnwrittenOwners.OwnerBacklog;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class UnwrittenTest {
  private static final ClaimScript CLAIM = new ClaimScript("w1", ClaimScript.Bounds.DEFAULT);

  private final SlotFixture redis = new SlotFixture();

  @AfterEach
  void close() {
    redis.close();
  }

  private List<OwnerBacklog> upTo(long newest, int mostRows) {
    return UnwrittenOwners.unwritten(
        redis.redis, redis.slot, newest, mostRows, List.copyOf(members()));
  }

  private Set<String> members() {
    return WaitingOwners.of(redis.redis, redis.slot);
  }

  private OwnerBacklog of(long dirty, long claimed, String... tables) {
    return new OwnerBacklog(redis.owner, dirty, claimed, 0, Set.of(tables));
  }

  @Test
  void whoIsDueOrClaimedIsFoundAndOfHisRowsThoseThatCount() {
    redis.open(redis.first);
    redis.commit(redis.first, "item:1", SlotFixture.row(1, "a"), 5);
    redis.commit(redis.first, "chest:1", SlotFixture.row(3, "b"), 5);
    assertEquals(Set.of(redis.member(redis.first)), members());
    assertEquals(List.of(), upTo(0, 9));
    assertEquals(List.of(of(1, 0, "item")), upTo(2, 9));
    assertEquals(List.of(of(2, 0, "item", "chest")), upTo(3, 9));
    assertEquals(1, upTo(3, 1).get(0).rows());
    assertEquals(1, CLAIM.call(redis.redis, redis.slot).claims().size());
    redis.commit(redis.first, "item:2", SlotFixture.row(2, "c"), 5);
    assertEquals(Set.of(redis.owner.encoded() + ":", redis.member(redis.first)), members());
    OwnerBacklog both = of(1, 2, "item", "chest");
    assertEquals(List.of(both, both), upTo(3, 9), "once for each of its names");
  }

  @Test
  void rowsThatASessionAdoptedCountAndThoseOfOneThatLostItsOwnerDoNot() {
    redis.open(redis.first);
    redis.commit(redis.first, "item:1", SlotFixture.row(1, "a"), 5);
    redis.open(redis.second);
    redis.commit(redis.first, "item:2", SlotFixture.row(2, "too late"), 5);
    List<String> first = List.of(redis.member(redis.first));
    assertEquals(
        List.of(of(1, 0, "item")), UnwrittenOwners.unwritten(redis.redis, redis.slot, 9, 9, first));
  }

  @Test
  void dueLaterIsPulledForwardAndDueSoonIsLeft() {
    for (int i = 1; i <= 1_200; i++) {
      byte[] member = SlotFixture.bytes(OwnerId.of("player:" + i).encoded() + ":x");
      redis.redis.sync().zadd(redis.slot.due(), i <= 1_000 ? 5_000.0 : 50.0, member);
    }
    assertEquals(1_000, DueSlots.pullForward(redis.redis, redis.slot, 1_000, 100));
    assertEquals(0, DueSlots.pullForward(redis.redis, redis.slot, 1_000, 100));
    assertEquals(50, dueMillis(0));
    assertEquals(100, dueMillis(-1));
  }

  private double dueMillis(int place) {
    return redis.redis.sync().zrangeWithScores(redis.slot.due(), place, place).get(0).getScore();
  }
}

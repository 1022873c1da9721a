package io.gameq.writer.flush;

import static io.gameq.redis.script.SlotFixture.bytes;
import static io.gameq.redis.script.SlotFixture.row;
import static io.gameq.servers.Waits.LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.owner.OwnerId;
import io.gameq.redis.ChannelListener;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.redis.script.ClaimScript.Flushed;
import io.gameq.redis.script.ClaimScript.VersionedKey;
import io.gameq.redis.script.SessionScripts;
import io.gameq.redis.script.SlotFixture;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rows.EncodedRow;
import io.gameq.servers.RedisMonitor;
import io.gameq.servers.TestServers;
import io.gameq.writer.redis.StaleRows;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("it fills Redis, or changes its settings")
class ClaimScriptsTest {
  private static final long KEPT_MILLIS = 60_000;

  private static final int LEASE_MILLIS = 60_000;

  private final SlotFixture slot = new SlotFixture();
  private final Slots slots = new Slots(slot.namespace, 1);
  private final ClaimScript claims = claimer("w1", LEASE_MILLIS);

  private static ClaimScript claimer(String writer, long leaseMillis) {
    return new ClaimScript(writer, new ClaimScript.Bounds(10, 100, 1 << 20, leaseMillis));
  }

  @BeforeEach
  void open() {
    slot.open(slot.first);
  }

  @AfterEach
  void close() {
    slot.close();
  }

  private ClaimScript.Batch claim() {
    ClaimScript.Share all = new ClaimScript.Share(slot.slot, 10, 100);
    return claims.callEach(slot.redis, List.of(all), false).get(0).get();
  }

  private int ack(Claim claim) {
    return ack(new Flushed(claim, 9, List.of(), List.of(), KEPT_MILLIS));
  }

  private int ack(Flushed flushed) {
    return ClaimScript.ack(slot.redis, slots, slot.namespace, List.of(flushed));
  }

  @Test
  void takesAllDirtyRowsOfADueOwnerAndLeavesTheRest() {
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    slot.commit(slot.first, "item:2", row(2, "b"), 0);
    Claim claim = claim().claims().get(0);
    assertEquals(slot.owner, claim.owner());
    assertEquals(slot.first, claim.session());
    assertEquals(1, claim.attempts());
    assertEquals(2, claim.rows().size());
    assertEquals(Map.of(), slot.dirty(slot.first));
    assertEquals(2, slot.claimed().size());
  }

  @Test
  void tellsHowLongUntilTheNextOwnerIsDue() {
    assertEquals(-1, claim().waitMillis());
    slot.commit(slot.first, "item:1", row(1, "a"), System.currentTimeMillis() + 5_000);
    long wait = claim().waitMillis();
    assertTrue(wait > 0 && wait <= 5_500, "waits " + wait + " ms");
    assertEquals(List.of(), claim().claims());
  }

  @Test
  void whoIsDueLaterThanAnybodyCanBeIsClaimedAlsoBehindOthers() {
    long now = System.currentTimeMillis();
    commitOf("player:1", now + 3_600_000);
    assertEquals(List.of("player:1"), owners(claim()), "Redis' clock was ahead when it committed");
    commitOf("player:2", now - 1);
    commitOf("player:3", now + 3_600_000);
    commitOf("player:4", now + 600_000);
    ClaimScript.Batch both = claim();
    assertEquals(List.of("player:2", "player:3"), owners(both).stream().sorted().toList());
    assertTrue(both.waitMillis() > 590_000, "the longest merge window lasts");
  }

  private ClaimScript.Batch claimUrgent() {
    ClaimScript.Share all = new ClaimScript.Share(slot.slot, 10, 100);
    return claims.callEach(slot.redis, List.of(all), true).get(0).get();
  }

  private void commitOf(String owner, long dueMillis) {
    OwnerId id = OwnerId.of(owner);
    assertTrue(
        SessionScripts.open(slot.redis, slot.slot, id, slot.first, 0, false)
            instanceof SessionScripts.Opened);
    slot.redis.sync().hset(slot.slot.dirty(id, slot.first), bytes("i:1"), bytes(row(1, "a")));
    slot.redis
        .sync()
        .zadd(slot.slot.due(), (double) dueMillis, bytes(id.encoded() + ":" + slot.first.text()));
  }

  private static List<String> owners(ClaimScript.Batch batch) {
    return batch.claims().stream().map(claim -> claim.owner().id()).toList();
  }

  @Test
  void urgentOwnersAreClaimedBeforeABacklogInTheOrderOfTheirCommits() {
    for (int i = 10; i < 30; i++) {
      commitOf("player:" + i, i);
    }
    assertEquals(10, claim().claims().size());
    commitOf("player:1", -7); // ready holds the rest of a batch by now, and due more
    commitOf("player:2", -9);
    commitOf("player:3", 0);
    ClaimScript.Batch urgent = claimUrgent();
    assertEquals(List.of("player:2", "player:1", "player:3"), owners(urgent));
    assertEquals(-1, urgent.waitMillis(), "no more of them");
    assertEquals(List.of(), claimUrgent().claims(), "and nobody else");
    commitOf("player:4", -1);
    assertEquals(List.of("player:20"), owners(claim()).subList(0, 1), "a backlog waits for none");
    assertEquals(List.of("player:4"), owners(claim()), "who wait together with nobody else");
  }

  @Test
  void anUrgentOwnerDoesNotGetBehindABacklogOfWhichAClaimTakesAPart() {
    for (int i = 10; i < 13; i++) {
      commitOf("player:" + i, i);
    }
    commitOf("player:1", -7);
    ClaimScript.Share oneRow = new ClaimScript.Share(slot.slot, 10, 1);
    ClaimScript.Batch part = claims.callEach(slot.redis, List.of(oneRow), false).get(0).get();
    assertEquals(List.of("player:10"), owners(part));
    assertEquals(List.of("player:1"), owners(claimUrgent()));
    assertEquals(List.of("player:11", "player:12"), owners(claim()));
  }

  @Test
  void anUrgentOwnerWhomSomebodyElseHasIsUrgentAgainAfterTheAck() {
    slot.commit(slot.first, "item:1", row(1, "a"), 1);
    Claim claim = claim().claims().get(0);
    slot.commit(slot.first, "item:1", row(2, "b"), -5);
    assertEquals(List.of(), claimUrgent().claims());
    assertEquals(-1, claimUrgent().waitMillis(), "dropped from due: no spinning");
    slot.commit(slot.first, "item:1", row(3, "c"), System.currentTimeMillis() + 5_000);
    assertEquals(1, ack(claim));
    Claim again = claimUrgent().claims().get(0);
    assertEquals(slot.owner, again.owner());
    slot.commit(slot.first, "item:1", row(4, "d"), 1);
    assertEquals(1, ack(again));
    assertEquals(List.of(), claimUrgent().claims(), "once");
  }

  @Test
  void anOwnerBeingFlushedIsNotClaimedTwiceAndComesBackByTheAck() {
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    Claim claim = claim().claims().get(0);
    slot.commit(slot.first, "item:1", row(2, "b"), 0);
    assertEquals(List.of(), claim().claims());
    assertEquals(-1, claim().waitMillis(), "dropped from due: no spinning");
    assertEquals(1, ack(claim));
    assertEquals(List.of(slot.member(slot.first)), slot.due());
    assertEquals(Map.of("item:1", row(2, "b")), slot.dirty(slot.first));
    assertEquals(Map.of(), slot.claimed());
  }

  @Test
  void ackWithATokenOfAnEarlierClaimChangesNothing() {
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    Claim stalled = claimer("zombie", 0).call(slot.redis, slot.slot).claims().get(0);
    awaitReaped();
    Claim again = claim().claims().get(0);
    assertEquals(0, ack(stalled));
    assertEquals(Map.of("item:1", row(1, "a")), slot.claimed());
    assertEquals(2, again.attempts());
    assertEquals(1, again.lapses());
    assertEquals(1, ack(again));
  }

  @Test
  void aRenewedLeaseIsNotReapedAndAnotherTokenRenewsNothing() {
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    Claim claim = claimer("slow", 0).call(slot.redis, slot.slot).claims().get(0);
    assertEquals(1, ClaimScript.renew(slot.redis, slot.slot, LEASE_MILLIS, List.of(claim)));
    assertEquals(List.of(), ClaimScript.reap(slot.redis, slot.slot));
    Claim other = new Claim(claim.owner(), claim.session(), "other", 1, 0, 0, claim.rows());
    assertEquals(0, ClaimScript.renew(slot.redis, slot.slot, 0, List.of(other)));
    assertEquals(List.of(), ClaimScript.reap(slot.redis, slot.slot));
  }

  @Test
  void rowsKeptByAnAckGoBackToWaitAndNeverOverANewerOne() {
    slot.commit(slot.first, "item:1", row(1, "flushed"), 0);
    slot.commit(slot.first, "item:2", row(2, "kept"), 0);
    slot.commit(slot.first, "item:3", row(3, "older"), 0);
    Claim claim = claim().claims().get(0);
    slot.commit(slot.first, "item:3", row(4, "newer"), 0);
    assertEquals(
        1,
        ack(
            new Flushed(
                claim,
                1,
                List.of(),
                List.of(new VersionedKey("item:2", 2), new VersionedKey("item:3", 3)),
                KEPT_MILLIS)));
    assertEquals(
        Map.of("item:2", row(2, "kept"), "item:3", row(4, "newer")), slot.dirty(slot.first));
    assertEquals(Map.of(), slot.claimed());
    assertEquals(1, claim().claims().size(), "the newer row is due at once");
  }

  @Test
  void keptRowsAloneAreDueLater() {
    slot.commit(slot.first, "item:2", row(2, "kept"), 0);
    ack(
        new Flushed(
            claim().claims().get(0),
            1,
            List.of(),
            List.of(new VersionedKey("item:2", 2)),
            KEPT_MILLIS));
    ClaimScript.Batch batch = claim();
    assertEquals(List.of(), batch.claims());
    assertTrue(batch.waitMillis() > 50_000, () -> "waits " + batch.waitMillis() + " ms");
  }

  @Test
  void reapMergesUnderNewerDirtyRowsRowByRow() {
    slot.commit(slot.first, "item:1", row(1, "old"), 0);
    slot.commit(slot.first, "item:2", row(2, "kept"), 0);
    claimer("dead", 0).call(slot.redis, slot.slot);
    slot.commit(slot.first, "item:1", row(3, "new"), 0);
    awaitReaped();
    assertEquals(Map.of("item:1", row(3, "new"), "item:2", row(2, "kept")), slot.dirty(slot.first));
    assertEquals(Map.of(), slot.claimed());
    assertEquals(0, slot.redis.sync().llen(bytes(slot.slot.prefix() + ":inflight:dead")));
  }

  private void awaitReaped() {
    Awaitility.await().atMost(LONG).until(() -> !ClaimScript.reap(slot.redis, slot.slot).isEmpty());
  }

  @Test
  void aLeaseThatRunsIsNotReaped() {
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    claim();
    assertEquals(List.of(), ClaimScript.reap(slot.redis, slot.slot));
  }

  @Test
  void nackGivesRowsBackToTheNewestSessionAndAnOutageCountsAsNoAttempt() {
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    Claim claim = claim().claims().get(0);
    slot.open(slot.second);
    assertEquals(1, ClaimScript.nack(slot.redis, slots, 0, false, List.of(claim)));
    assertEquals(Map.of("item:1", row(1, "a")), slot.dirty(slot.second));
    Claim again = claim().claims().get(0);
    assertEquals(slot.second, again.session());
    assertEquals(1, again.attempts());
    assertEquals(
        0,
        ClaimScript.nack(slot.redis, slots, 0, false, List.of(claim)),
        "the first token is gone");
  }

  @Test
  void rowsOfALostSessionAreParkedNotFlushed() {
    slot.open(slot.second);
    slot.commit(slot.first, "item:1", row(9, "late"), 0);
    ClaimScript.Batch batch = claim();
    assertEquals(List.of(), batch.claims());
    assertEquals(List.of(new SlotKeys.DirtyOf(slot.owner, slot.first)), batch.stale());
    assertEquals(0, slot.redis.sync().scard(bytes(slot.slot.prefix() + ":stale")));
    assertEquals(1, slot.due().size(), "for another writer, after a lease");
    assertTrue(StaleRows.park(slot.redis, slot.slot, batch.stale().get(0)));
    assertFalse(StaleRows.park(slot.redis, slot.slot, batch.stale().get(0)));
    assertEquals(Map.of("item:1", row(9, "late")), slot.dirty(slot.first));
    assertEquals(1, slot.redis.sync().scard(bytes(slot.slot.prefix() + ":stale")));
    assertEquals(List.of(), slot.due());
    slot.commit(slot.first, "item:1", row(10, "later"), 0);
    assertEquals(List.of(), claim().stale());
    assertEquals(List.of(), slot.due());
  }

  @Test
  void whatALostSessionHandledIsToldUnlessTheNextOneHasItOrMayPutItBack() {
    slot.commit(slot.first, "gameq_handled:mail,m", row(1, "m"), 0);
    slot.commit(slot.first, "gameq_handled:mail,n", row(1, "n"), 0);
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    SessionScripts.reassert(slot.redis, slot.slot, slot.owner, slot.second);
    slot.commit(slot.second, "gameq_handled:mail,n", row(1, "n"), 0);
    SlotKeys.DirtyOf lost = new SlotKeys.DirtyOf(slot.owner, slot.first);
    byte[] sign = bytes(slots.namespace() + ":node:" + slot.second.nonce().substring(0, 8));
    slot.redis.sync().set(sign, bytes("n2"));
    assertTrue(StaleRows.handled(slot.redis, slots, lost).mayComeBack());
    slot.redis.sync().del(sign);
    StaleRows.HandledMessages handled = StaleRows.handled(slot.redis, slots, lost);
    assertFalse(handled.mayComeBack());
    assertEquals(
        List.of("gameq_handled:mail,m"), handled.rows().stream().map(EncodedRow::key).toList());
  }

  @Test
  void rowsOfALostSessionAreParkedAlsoWhenTheyWereDueDuringAFlush() {
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    Claim flushing = claim().claims().get(0);
    slot.commit(slot.first, "item:2", row(2, "b"), 0);
    assertEquals(List.of(), claim().claims()); // drops the due entry
    SessionScripts.reassert(slot.redis, slot.slot, slot.owner, slot.second);
    assertEquals(1, ack(flushing));
    assertEquals(
        List.of(slot.first), claim().stale().stream().map(SlotKeys.DirtyOf::session).toList());
    assertEquals(Map.of("item:2", row(2, "b")), slot.dirty(slot.first));
  }

  @Test
  void nothingIsRememberedOfAClaimWhoseRowsWereParked() {
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    ClaimScript.nack(slot.redis, slots, 0, false, claim().claims());
    SessionScripts.reassert(slot.redis, slot.slot, slot.owner, slot.second);
    assertEquals(1, claim().stale().size());
    assertEquals(0, slot.redis.sync().hlen(bytes(slot.slot.prefix() + ":claim")));
  }

  @Test
  void anOwnerWhoseSessionRedisForgotIsReportedNotFlushed() {
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    slot.redis.sync().del(bytes(slot.slot.prefix() + ":own:" + slot.owner.encoded()));
    ClaimScript.Batch batch = claim();
    assertEquals(List.of(), batch.claims());
    assertEquals(List.of(new SlotKeys.DirtyOf(slot.owner, slot.first)), batch.unowned());
    assertTrue(batch.waitMillis() > 0, "no spinning");
    assertTrue(SessionScripts.reassert(slot.redis, slot.slot, slot.owner, slot.first));
  }

  @Test
  void aDirtyKeyThatIsNoHashIsLeftAloneAndHoldsNobodyUp() {
    slot.redis
        .sync()
        .set(bytes(slot.slot.prefix() + ":dirty:player%3A1:" + slot.first.text()), bytes("x"));
    slot.redis
        .sync()
        .zadd(bytes(slot.slot.prefix() + ":due"), 1, bytes("player%3A1:" + slot.first.text()));
    slot.commit(slot.first, "item:1", row(1, "a"), 2);
    ClaimScript.Batch batch = claim();
    assertEquals(slot.owner, batch.claims().get(0).owner());
    assertEquals(1, batch.broken().size());
    assertTrue(batch.waitMillis() > 50_000, "no spinning");
  }

  @Test
  void rowsThatCannotGoBackForAKeyThatIsNoHashGoBackOnceItIsGone() {
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    Claim claim = claimer("gone", 0).call(slot.redis, slot.slot).claims().get(0);
    byte[] dirty =
        bytes(slot.slot.prefix() + ":dirty:" + slot.owner.encoded() + ":" + slot.first.text());
    slot.redis.sync().set(dirty, bytes("x"));
    assertEquals(0, ClaimScript.nack(slot.redis, slots, 0, true, List.of(claim)));
    assertEquals(
        0,
        ack(new Flushed(claim, 0, List.of(), List.of(new VersionedKey("item:1", 1)), KEPT_MILLIS)));
    assertEquals(List.of(), ClaimScript.reap(slot.redis, slot.slot));
    assertEquals(Map.of("item:1", row(1, "a")), slot.claimed());
    slot.redis.sync().del(dirty);
    slot.redis.sync().zadd(bytes(slot.slot.prefix() + ":lease"), 0, bytes(slot.owner.encoded()));
    assertEquals(1, ClaimScript.reap(slot.redis, slot.slot).size());
    assertEquals(Map.of("item:1", row(1, "a")), slot.dirty(slot.first));
    assertEquals(1, claim().claims().size());
  }

  @Test
  void anAckTellsASessionNothingWhileRedisHasForgottenIt() {
    Queue<Long> told = new ConcurrentLinkedQueue<>();
    try (RedisConnector connector =
            new RedisConnector(new RedisConfig(TestServers.redisUri(Role.NODE)));
        ChannelListener notices =
            ChannelListener.ofProcess(
                connector,
                slot.namespace,
                slot.second.nonce().substring(0, 8),
                (owner, session, version, setAside, kept) -> told.add(version))) {
      notices.keep();
      slot.commit(slot.second, "item:1", row(1, "a"), 0); // own is the first session's
      ack(new Flushed(claim().claims().get(0), 1, List.of(), List.of(), KEPT_MILLIS));
      slot.open(slot.second);
      slot.commit(slot.second, "item:1", row(2, "b"), 0);
      ack(new Flushed(claim().claims().get(0), 2, List.of(), List.of(), KEPT_MILLIS));
      Awaitility.await().atMost(LONG).until(() -> told.contains(2L));
      assertEquals(List.of(2L), List.copyOf(told));
    }
  }

  @Test
  void theLastAckOfAClosedSessionLetsItsOwnKeyExpire() {
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    SessionScripts.close(slot.redis, slot.slot, slot.owner, slot.first);
    assertEquals(-1, slot.ownLifeMillis());
    ack(claim().claims().get(0));
    assertTrue(slot.ownLifeMillis() > 0);
  }

  @Test
  void oneClaimIsOneScriptCallThatPopsAndRenames() throws IOException {
    slot.commit(slot.first, "item:1", row(1, "a"), 1);
    claimer("warm up", LEASE_MILLIS)
        .call(slot.redis, new SlotKeys(slot.namespace, 1)); // loads the script
    try (RedisMonitor monitor = new RedisMonitor()) {
      claim();
      TestServers.redis().sync().echo("the end");
      List<String> commands = monitor.commandsUntil(slot.namespace, "the end");
      assertEquals("EVALSHA", commands.get(0).split(" ", 2)[0].toUpperCase(Locale.ROOT));
      assertTrue(commands.stream().skip(1).allMatch(c -> c.startsWith("lua ")), commands::toString);
      List<String> names = commands.stream().skip(1).map(c -> c.split(" ", 3)[1]).toList();
      assertTrue(
          names.indexOf("RPOPLPUSH") > 0 && names.indexOf("RPOPLPUSH") < names.indexOf("RENAMENX"),
          names::toString);
    }
  }

  @Test
  void nothingIsLeftInRedisOnceEverythingIsAcknowledged() {
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    ack(claim().claims().get(0));
    assertEquals(List.of(slot.slot.prefix() + ":own:" + slot.owner.encoded()), slot.keys());
  }

  @Test
  void rowsWhoseLeaseRanOutTwiceAreTakenAlone() {
    OwnerId other = OwnerId.of("player:7");
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    for (int lapses = 1; lapses <= 2; lapses++) {
      claimer("dying", 0).call(slot.redis, slot.slot);
      awaitReaped();
    }
    SessionScripts.open(slot.redis, slot.slot, other, slot.first, 0, false);
    byte[] dirty =
        bytes(slot.slot.prefix() + ":dirty:" + other.encoded() + ":" + slot.first.text());
    slot.redis.sync().hset(dirty, bytes("item:2"), bytes(row(2, "b")));
    slot.redis
        .sync()
        .zadd(
            bytes(slot.slot.prefix() + ":due"),
            0,
            bytes(other.encoded() + ":" + slot.first.text()));
    List<OwnerId> taken = new ArrayList<>();
    for (int calls = 1; calls <= 2; calls++) {
      List<Claim> claims = claim().claims();
      assertEquals(1, claims.size(), "each by itself");
      taken.add(claims.get(0).owner());
    }
    assertEquals(Set.of(slot.owner, other), Set.copyOf(taken));
  }

  @Test
  void aRefusalIsTimedFromTheFirstOneAndAnOutageIsNone() {
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    Claim claim = claim().claims().get(0);
    ClaimScript.nack(slot.redis, slots, 0, false, List.of(claim));
    claim = claim().claims().get(0);
    assertEquals(0, claim.refusedForMillis());
    assertEquals(1, claim.attempts());
    ClaimScript.nack(slot.redis, slots, 0, true, List.of(claim));
    Awaitility.await().pollDelay(Duration.ofMillis(20)).until(() -> true);
    claim = claim().claims().get(0);
    assertEquals(2, claim.attempts());
    assertTrue(claim.refusedForMillis() >= 20, "for " + claim.refusedForMillis() + " ms");
    ack(claim);
    slot.commit(slot.first, "item:1", row(2, "b"), 0);
    assertEquals(0, claim().claims().get(0).refusedForMillis());
  }

  @Test
  void renewAndEverythingElseRunsAtMaxmemory() {
    slot.commit(slot.first, "item:1", row(1, "a"), 0);
    slot.commit(slot.first, "item:2", row(2, "b"), 0);
    TestServers.redis().sync().configSet("maxmemory", "1");
    try {
      Claim claim = claimer("slow", 0).call(slot.redis, slot.slot).claims().get(0);
      assertEquals(1, ClaimScript.renew(slot.redis, slot.slot, 0, List.of(claim)));
      awaitReaped();
      claim = claim().claims().get(0);
      assertEquals(1, ClaimScript.nack(slot.redis, slots, 0, true, List.of(claim)));
      claim = claim().claims().get(0);
      assertEquals(
          1,
          ack(
              new Flushed(
                  claim, 2, List.of(), List.of(new VersionedKey("item:2", 2)), KEPT_MILLIS)));
      slot.open(slot.second);
      assertEquals(Map.of("item:2", row(2, "b")), slot.dirty(slot.second));
      SessionScripts.close(slot.redis, slot.slot, slot.owner, slot.second);
    } finally {
      TestServers.redis().sync().configSet("maxmemory", "0");
    }
  }
}

package io.gameq.healing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.healing.WalReplay.Ownership;
import io.gameq.healing.WalReplay.Ownership.Conflict;
import io.gameq.healing.WalReplay.Ownership.Replayable;
import io.gameq.healing.WalReplay.Ownership.Verdict;
import io.gameq.mysql.tables.OwnerTable.Durable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.SessionId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class OwnershipTest {
  private final SessionId third = new SessionId(3, "aaaaaaaa00000003");
  private final SessionId fifth = new SessionId(5, "aaaaaaaa00000005");
  private final SessionId seventh = new SessionId(7, "aaaaaaaa00000007");
  private final SessionId otherFifth = new SessionId(5, "bbbbbbbb00000005");

  private static Durable durable(SessionId session) {
    return new Durable(CountingSessions.open(session), "n9", Instant.EPOCH);
  }

  private static Verdict judge(SessionId row, SessionId newest, @Nullable SessionId durable) {
    return Ownership.judge(row, newest, durable == null ? null : durable(durable), null);
  }

  @Test
  void whatTheDurableSessionWroteIsReplayed() {
    assertEquals(new Replayable(fifth, false), judge(fifth, fifth, fifth));
  }

  @Test
  void whatAnEarlierSessionWroteIsAConflict() {
    Conflict conflict = assertInstanceOf(Conflict.class, judge(third, fifth, fifth));
    assertTrue(conflict.reason().contains(fifth + " of node n9"), conflict.reason());
    assertInstanceOf(Conflict.class, judge(third, third, fifth));
  }

  @Test
  void sameEpochWithAnotherNonceIsAConflict() {
    assertInstanceOf(Conflict.class, judge(fifth, fifth, otherFifth));
    assertInstanceOf(Conflict.class, judge(fifth, seventh, otherFifth));
  }

  @Test
  void aSessionThatMySqlLostIsRestoredAndReplayed() {
    assertEquals(new Replayable(seventh, true), judge(seventh, seventh, fifth));
    assertEquals(new Replayable(seventh, true), judge(seventh, seventh, null));
  }

  @Test
  void afterAFailoverOfMySqlRowsSinceTheSessionItKnowsGoUnderTheNewest() {
    assertEquals(new Replayable(seventh, true), judge(fifth, seventh, fifth));
    assertEquals(new Replayable(seventh, true), judge(fifth, seventh, third));
    assertInstanceOf(Conflict.class, judge(third, seventh, fifth));
  }

  @Test
  void whileASessionOpensWhatTheOneBeforeItWroteIsReplayed() {
    Durable opening = new Durable(new CountingSessions(seventh, true, fifth), "n9", Instant.EPOCH);
    assertEquals(new Replayable(fifth, false), Ownership.judge(fifth, fifth, opening, null));
    assertEquals(new Replayable(fifth, false), Ownership.judge(fifth, fifth, opening, fifth));
    assertEquals(new Replayable(fifth, false), Ownership.judge(seventh, seventh, opening, fifth));
    assertEquals(new Replayable(seventh, false), Ownership.judge(fifth, fifth, opening, seventh));
    assertInstanceOf(Conflict.class, Ownership.judge(third, fifth, opening, null));
  }

  @Test
  void aLaterSessionThatOnlyRedisKnowsIsAConflict() {
    assertInstanceOf(Conflict.class, Ownership.judge(fifth, fifth, durable(fifth), seventh));
    assertEquals(
        new Replayable(fifth, false), Ownership.judge(fifth, fifth, durable(fifth), third));
  }
}

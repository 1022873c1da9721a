package io.gameq.healing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.healing.RowLookup.Verdict;
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
    return RowLookup.judge(row, newest, durable == null ? null : durable(durable), null);
  }

  @Test
  void whatTheDurableSessionWroteIsReplayed() {
    assertEquals(new Verdict(fifth, false, ""), judge(fifth, fifth, fifth));
  }

  @Test
  void whatAnEarlierSessionWroteIsAConflict() {
    Verdict conflict = judge(third, fifth, fifth);
    assertNull(conflict.under());
    assertTrue(conflict.conflict().contains(fifth + " of node n9"), conflict.conflict());
    assertNull(judge(third, third, fifth).under());
  }

  @Test
  void sameEpochWithAnotherNonceIsAConflict() {
    assertNull(judge(fifth, fifth, otherFifth).under());
    assertNull(judge(fifth, seventh, otherFifth).under());
  }

  @Test
  void aSessionThatMySqlLostIsRestoredAndReplayed() {
    assertEquals(new Verdict(seventh, true, ""), judge(seventh, seventh, fifth));
    assertEquals(new Verdict(seventh, true, ""), judge(seventh, seventh, null));
  }

  @Test
  void afterAFailoverOfMySqlRowsSinceTheSessionItKnowsGoUnderTheNewest() {
    assertEquals(new Verdict(seventh, true, ""), judge(fifth, seventh, fifth));
    assertEquals(new Verdict(seventh, true, ""), judge(fifth, seventh, third));
    assertNull(judge(third, seventh, fifth).under());
  }

  @Test
  void whileASessionOpensWhatTheOneBeforeItWroteIsReplayed() {
    Durable opening = new Durable(new CountingSessions(seventh, true, fifth), "n9", Instant.EPOCH);
    assertEquals(new Verdict(fifth, false, ""), RowLookup.judge(fifth, fifth, opening, null));
    assertEquals(new Verdict(fifth, false, ""), RowLookup.judge(fifth, fifth, opening, fifth));
    assertEquals(new Verdict(fifth, false, ""), RowLookup.judge(seventh, seventh, opening, fifth));
    assertEquals(new Verdict(seventh, false, ""), RowLookup.judge(fifth, fifth, opening, seventh));
    assertNull(RowLookup.judge(third, fifth, opening, null).under());
  }

  @Test
  void aLaterSessionThatOnlyRedisKnowsIsAConflict() {
    assertNull(RowLookup.judge(fifth, fifth, durable(fifth), seventh).under());
    assertEquals(
        new Verdict(fifth, false, ""), RowLookup.judge(fifth, fifth, durable(fifth), third));
  }
}

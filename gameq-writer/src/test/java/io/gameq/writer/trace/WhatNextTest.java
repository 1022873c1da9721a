package io.gameq.writer.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.writer.mysql.OwnerInMySql;
import io.gameq.writer.mysql.PauseTable.Pause;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.redis.OwnerInRedis;
import io.gameq.writer.redis.OwnerInRedis.ClaimRecord;
import io.gameq.writer.redis.OwnerInRedis.InSession;
import io.gameq.writer.redis.OwnerInRedis.TracedRows;
import io.gameq.writer.trace.WhatNext.Kind;
import io.gameq.writer.trace.WhatNext.OwnerTrace;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Every state that an owner can be in has its sentence. */
class WhatNextTest {
  private static final long NOW = 1_700_000_000_000L;
  private static final OwnerId OWNER = OwnerId.of("player:42");
  private static final SessionId FIRST = new SessionId(1, "aaaaaaaa00000001");
  private static final SessionId SECOND = new SessionId(2, "bbbbbbbb00000002");
  private static final TracedRows TWO_ITEMS =
      new TracedRows(2, 80, NOW << 16, NOW << 16, Map.of("item", 2L), false);

  // what the next trace is of: an owner of SECOND, all of which is in MySQL
  private @Nullable SessionId owns = SECOND;
  private boolean healing;
  private @Nullable ClaimRecord claim;
  private long leaseEnds = OwnerInRedis.NONE;
  private @Nullable TracedRows claimed;
  private final List<InSession> sessions = new ArrayList<>();
  private final List<String> foreign = new ArrayList<>();
  private final Map<OwnerId, OwnerInRedis> inboxes = new LinkedHashMap<>();
  private @Nullable SessionId raised = SECOND;
  private long deadLetters;
  private boolean redisAnswers = true;
  private boolean mysqlAnswers = true;
  private @Nullable String aliveNode = "n1";
  private final List<Pause> pauses = new ArrayList<>();
  private final Map<String, String> parked = new TreeMap<>();

  private WhatNext next() {
    OwnerInRedis redis =
        new OwnerInRedis(
            NOW, owns, -1, false, healing, claim, leaseEnds, claimed, sessions, foreign, inboxes);
    OwnerInMySql.@Nullable OwnerRecord session =
        raised == null
            ? null
            : new OwnerInMySql.OwnerRecord(
                CountingSessions.open(raised), "n1", Instant.ofEpochMilli(NOW), 0);
    OwnerInMySql mysql = new OwnerInMySql(session, deadLetters, List.of(), 0, 0);
    return WhatNext.of(
        new OwnerTrace(
            OWNER,
            3,
            redisAnswers ? redis : null,
            "away",
            mysqlAnswers ? mysql : null,
            "away",
            aliveNode,
            pauses,
            parked));
  }

  private void expect(Kind kind, String text) {
    WhatNext next = next();
    assertEquals(kind, next.kind(), next::toString);
    assertTrue(next.sentence().contains(text), next::toString);
  }

  private void dirty(SessionId session, long dueInMillis) {
    sessions.add(new InSession(session, TWO_ITEMS, NOW + dueInMillis, false, false));
  }

  private void claimed(String token, long leaseLeftMillis) {
    claim = new ClaimRecord(token, SECOND, 1, 0, 0, "w1");
    leaseEnds = NOW + leaseLeftMillis;
    claimed = TWO_ITEMS;
  }

  @Test
  void nothingWaits() {
    expect(Kind.NOTHING, "all of it is in MySQL");
    sessions.add(new InSession(SECOND, null, NOW + 10, false, false)); // the next claim drops it
    expect(Kind.NOTHING, "all of it is in MySQL");
  }

  @Test
  void itsMergeWindowLasts() {
    dirty(SECOND, 1_234);
    expect(Kind.DUE_LATER, "due in 1.2 s: the next writer takes it then");
  }

  @Test
  void itIsDue() {
    dirty(SECOND, -100);
    expect(Kind.DUE_NOW, "the next writer takes it");
    sessions.set(0, new InSession(SECOND, TWO_ITEMS, OwnerInRedis.NONE, true, false));
    expect(Kind.DUE_NOW, "the next writer takes it");
    sessions.set(0, new InSession(SECOND, TWO_ITEMS, -7, false, false)); // who flushes at once
    expect(Kind.DUE_NOW, "the next writer takes it");
  }

  @Test
  void itsTableIsParked() {
    dirty(SECOND, 1_234);
    parked.put("pet", "locked");
    expect(Kind.DUE_LATER, "due in 1.2 s");
    parked.put("item", "no column count");
    expect(Kind.PARKED, "table item takes no rows now, or not all (no column count)");
  }

  @Test
  void nobodyTakesIt() {
    dirty(SECOND, -90_000);
    expect(Kind.OVERDUE, "due since 1 min 30 s and not claimed: does a writer run");
  }

  @Test
  void aWriterHasIt() {
    claimed("t.1", 12_300);
    expect(
        Kind.CLAIMED, "writer w1 flushes it now; if that writer has died, another takes it back");
    expect(Kind.CLAIMED, "in 12.3 s");
    dirty(SECOND, 700);
    expect(Kind.CLAIMED, "what was committed since is due then");
  }

  @Test
  void theLeaseIsOver() {
    claimed("t.1", -2_000);
    expect(Kind.LAPSED, "the lease of writer w1 ran out 2.0 s ago");
  }

  @Test
  void mysqlRefusesARow() {
    claim = new ClaimRecord("-", SECOND, 3, 0, NOW - 9_000, "w1");
    dirty(SECOND, 2_000);
    expect(Kind.REFUSED, "since 9.0 s, after 3 attempts: tried again in 2.0 s");
  }

  @Test
  void anOperatorPausedIt() {
    dirty(SECOND, -90_000);
    pauses.add(new Pause(Scope.TABLE, "item", "alter", "ann", Instant.ofEpochMilli(NOW)));
    expect(Kind.PAUSED, "all of its rows are of paused tables (item)");
    pauses.set(0, new Pause(Scope.SLOT, "3", "look", "ann", Instant.ofEpochMilli(NOW)));
    expect(Kind.PAUSED, "slot 3 is paused by ann since 2023-11-14 22:13:20.000 UTC (look)");
    pauses.set(0, new Pause(Scope.ALL, "", "backup", "ann", Instant.ofEpochMilli(NOW)));
    expect(Kind.PAUSED, "everything is paused by ann");
    sessions.clear();
    expect(Kind.NOTHING, "all of it is in MySQL");
  }

  @Test
  void oneOfItsTablesIsPausedAndTheRestGoesOn() {
    sessions.add(
        new InSession(
            SECOND,
            new TracedRows(2, 80, 1, 1, Map.of("item", 1L, "player", 1L), false),
            NOW - 1,
            false,
            false));
    pauses.add(new Pause(Scope.TABLE, "item", "alter", "ann", Instant.ofEpochMilli(NOW)));
    expect(
        Kind.PAUSED, "paused tables (item) wait until 'gameq-writer resume'; of the others: due");
  }

  @Test
  void redisForgotWhoOwns() {
    owns = null;
    dirty(SECOND, -100);
    expect(Kind.UNOWNED, "the next writer asks MySQL, tells Redis that session " + SECOND);
    raised = null;
    expect(Kind.OF_NOBODY, "MySQL has no session of this owner");
    mysqlAnswers = false;
    expect(Kind.UNOWNED, "MySQL, which does not answer now");
  }

  @Test
  void itLostTheOwner() {
    dirty(FIRST, -100);
    expect(Kind.STALE, "the next writer parks its rows");
    sessions.set(0, new InSession(FIRST, TWO_ITEMS, OwnerInRedis.NONE, false, true));
    expect(Kind.STALE, "stale rows are never flushed");
  }

  @Test
  void aNewerSessionOwnsByMySql() {
    owns = FIRST;
    dirty(FIRST, 500);
    expect(Kind.DUE_LATER, "but by MySQL session " + SECOND + " owns");
  }

  @Test
  void itsNodePutsRowsBack() {
    healing = true;
    expect(Kind.HEALING, "node n1 puts back what Redis lost");
    aliveNode = null;
    expect(Kind.HEALING, "gives no sign of life");
  }

  @Test
  void rowsAreSetAside() {
    deadLetters = 2;
    expect(Kind.DEAD_LETTERS, "MySQL has refused 2 rows");
    dirty(SECOND, 10);
    expect(Kind.DEAD_LETTERS, "due in 0.010 s: the next writer takes it then");
    expect(Kind.DEAD_LETTERS, "Before, MySQL has refused 2 rows");
  }

  @Test
  void whatDoesNotFitTogetherIsForTheDoctor() {
    claimed = TWO_ITEMS;
    expect(Kind.BROKEN, "nobody has the claim");
    claim = new ClaimRecord("t.1", SECOND, 1, 0, 0, "w1");
    expect(Kind.BROKEN, "without a lease");
    claimed = null;
    expect(Kind.BROKEN, "the rows are gone");
    claim = null;
    sessions.add(new InSession(SECOND, TWO_ITEMS, OwnerInRedis.NONE, false, false));
    expect(Kind.BROKEN, "nothing makes them due");
    foreign.add("{g:3}:due");
    expect(Kind.BROKEN, "{g:3}:due holds somebody else's value");
  }

  @Test
  void aServerIsAway() {
    redisAnswers = false;
    expect(Kind.CANNOT_TELL, "Redis does not answer");
    redisAnswers = true;
    mysqlAnswers = false;
    expect(Kind.CANNOT_TELL, "MySQL does not answer");
    dirty(SECOND, 100);
    expect(Kind.DUE_LATER, "due in 0.100 s");
  }

  @Test
  void nobodyKnowsIt() {
    owns = null;
    raised = null;
    expect(Kind.NOT_KNOWN, "nobody has opened it");
  }

  private void sent(long dueMillis, boolean claimedByNobody) {
    OwnerId inbox = OWNER.inbox("1a2b3c4d");
    SessionId session = SessionId.ofInbox("1a2b3c4d");
    InSession waits =
        new InSession(session, claimedByNobody ? null : TWO_ITEMS, dueMillis, false, false);
    inboxes.put(
        inbox,
        new OwnerInRedis(
            NOW,
            session,
            -1,
            false,
            false,
            null,
            OwnerInRedis.NONE,
            claimedByNobody ? TWO_ITEMS : null,
            List.of(waits),
            List.of(),
            Map.of()));
  }

  @Test
  void whatWasSentWaitsAsTheOwnersOwnRows() {
    sent(NOW + 200, false);
    expect(Kind.DUE_LATER, "due in 0.200 s");
    raised = null; // nobody has opened it
    owns = null;
    expect(Kind.DUE_LATER, "due in 0.200 s");
  }

  @Test
  void whatIsWrongWithWhatWasSentIsNotHiddenByWhatIsNot() {
    dirty(SECOND, 200);
    sent(OwnerInRedis.NONE, true);
    expect(Kind.BROKEN, "nobody has the claim");
  }
}

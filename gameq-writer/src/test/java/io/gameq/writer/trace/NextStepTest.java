package io.gameq.writer.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.writer.mysql.MySqlOwner;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.mysql.PauseTable.WriterPause;
import io.gameq.writer.redis.RedisOwner;
import io.gameq.writer.redis.RedisOwner.ClaimRecord;
import io.gameq.writer.redis.RedisOwner.SessionRows;
import io.gameq.writer.redis.RedisOwner.TracedRows;
import io.gameq.writer.trace.NextStep.OwnerTrace;
import io.gameq.writer.trace.NextStep.StepKind;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Every state that an owner can be in has its sentence. */
class NextStepTest {
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
  private long leaseEnds = RedisOwner.NONE;
  private @Nullable TracedRows claimed;
  private final List<SessionRows> sessions = new ArrayList<>();
  private final List<String> foreign = new ArrayList<>();
  private final Map<OwnerId, RedisOwner> inboxes = new LinkedHashMap<>();
  private @Nullable SessionId raised = SECOND;
  private long deadLetters;
  private boolean redisAnswers = true;
  private boolean mysqlAnswers = true;
  private @Nullable String aliveNode = "n1";
  private final List<WriterPause> pauses = new ArrayList<>();
  private final Map<String, String> parked = new TreeMap<>();

  private NextStep next() {
    RedisOwner redis =
        new RedisOwner(
            NOW, owns, -1, false, healing, claim, leaseEnds, claimed, sessions, foreign, inboxes);
    MySqlOwner.@Nullable OwnerRecord session =
        raised == null
            ? null
            : new MySqlOwner.OwnerRecord(
                CountingSessions.open(raised), "n1", Instant.ofEpochMilli(NOW), 0);
    MySqlOwner mysql = new MySqlOwner(session, deadLetters, List.of(), 0, 0);
    return NextStep.of(
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

  private void expect(StepKind kind, String text) {
    NextStep next = next();
    assertEquals(kind, next.kind(), next::toString);
    assertTrue(next.sentence().contains(text), next::toString);
  }

  private void dirty(SessionId session, long dueInMillis) {
    sessions.add(new SessionRows(session, TWO_ITEMS, NOW + dueInMillis, false, false));
  }

  private void claimed(String token, long leaseLeftMillis) {
    claim = new ClaimRecord(token, SECOND, 1, 0, 0, "w1");
    leaseEnds = NOW + leaseLeftMillis;
    claimed = TWO_ITEMS;
  }

  @Test
  void nothingWaits() {
    expect(StepKind.NOTHING, "all of it is in MySQL");
    sessions.add(new SessionRows(SECOND, null, NOW + 10, false, false)); // the next claim drops it
    expect(StepKind.NOTHING, "all of it is in MySQL");
  }

  @Test
  void itsMergeWindowLasts() {
    dirty(SECOND, 1_234);
    expect(StepKind.DUE_LATER, "due in 1.2 s: the next writer takes it then");
  }

  @Test
  void itIsDue() {
    dirty(SECOND, -100);
    expect(StepKind.DUE_NOW, "the next writer takes it");
    sessions.set(0, new SessionRows(SECOND, TWO_ITEMS, RedisOwner.NONE, true, false));
    expect(StepKind.DUE_NOW, "the next writer takes it");
    sessions.set(0, new SessionRows(SECOND, TWO_ITEMS, -7, false, false)); // who flushes at once
    expect(StepKind.DUE_NOW, "the next writer takes it");
  }

  @Test
  void itsTableIsParked() {
    dirty(SECOND, 1_234);
    parked.put("pet", "locked");
    expect(StepKind.DUE_LATER, "due in 1.2 s");
    parked.put("item", "no column count");
    expect(StepKind.PARKED, "table item takes no rows now, or not all (no column count)");
  }

  @Test
  void nobodyTakesIt() {
    dirty(SECOND, -90_000);
    expect(StepKind.OVERDUE, "due since 1 min 30 s and not claimed: does a writer run");
  }

  @Test
  void aWriterHasIt() {
    claimed("t.1", 12_300);
    expect(
        StepKind.CLAIMED,
        "writer w1 flushes it now; if that writer has died, another takes it back");
    expect(StepKind.CLAIMED, "in 12.3 s");
    dirty(SECOND, 700);
    expect(StepKind.CLAIMED, "what was committed since is due then");
  }

  @Test
  void theLeaseIsOver() {
    claimed("t.1", -2_000);
    expect(StepKind.LAPSED, "the lease of writer w1 ran out 2.0 s ago");
  }

  @Test
  void mysqlRefusesARow() {
    claim = new ClaimRecord("-", SECOND, 3, 0, NOW - 9_000, "w1");
    dirty(SECOND, 2_000);
    expect(StepKind.REFUSED, "since 9.0 s, after 3 attempts: tried again in 2.0 s");
  }

  @Test
  void anOperatorPausedIt() {
    dirty(SECOND, -90_000);
    pauses.add(new WriterPause(Scope.TABLE, "item", "alter", "ann", Instant.ofEpochMilli(NOW)));
    expect(StepKind.PAUSED, "all of its rows are of paused tables (item)");
    pauses.set(0, new WriterPause(Scope.SLOT, "3", "look", "ann", Instant.ofEpochMilli(NOW)));
    expect(StepKind.PAUSED, "slot 3 is paused by ann since 2023-11-14 22:13:20.000 UTC (look)");
    pauses.set(0, new WriterPause(Scope.ALL, "", "backup", "ann", Instant.ofEpochMilli(NOW)));
    expect(StepKind.PAUSED, "everything is paused by ann");
    sessions.clear();
    expect(StepKind.NOTHING, "all of it is in MySQL");
  }

  @Test
  void oneOfItsTablesIsPausedAndTheRestGoesOn() {
    sessions.add(
        new SessionRows(
            SECOND,
            new TracedRows(2, 80, 1, 1, Map.of("item", 1L, "player", 1L), false),
            NOW - 1,
            false,
            false));
    pauses.add(new WriterPause(Scope.TABLE, "item", "alter", "ann", Instant.ofEpochMilli(NOW)));
    expect(
        StepKind.PAUSED,
        "paused tables (item) wait until 'gameq-writer resume'; of the others: due");
  }

  @Test
  void redisForgotWhoOwns() {
    owns = null;
    dirty(SECOND, -100);
    expect(StepKind.UNOWNED, "the next writer asks MySQL, tells Redis that session " + SECOND);
    raised = null;
    expect(StepKind.OF_NOBODY, "MySQL has no session of this owner");
    mysqlAnswers = false;
    expect(StepKind.UNOWNED, "MySQL, which does not answer now");
  }

  @Test
  void itLostTheOwner() {
    dirty(FIRST, -100);
    expect(StepKind.STALE, "the next writer parks its rows");
    sessions.set(0, new SessionRows(FIRST, TWO_ITEMS, RedisOwner.NONE, false, true));
    expect(StepKind.STALE, "stale rows are never flushed");
  }

  @Test
  void aNewerSessionOwnsByMySql() {
    owns = FIRST;
    dirty(FIRST, 500);
    expect(StepKind.DUE_LATER, "but by MySQL session " + SECOND + " owns");
  }

  @Test
  void itsNodePutsRowsBack() {
    healing = true;
    expect(StepKind.HEALING, "node n1 puts back what Redis lost");
    aliveNode = null;
    expect(StepKind.HEALING, "gives no sign of life");
  }

  @Test
  void rowsAreSetAside() {
    deadLetters = 2;
    expect(StepKind.DEAD_LETTERS, "MySQL has refused 2 rows");
    dirty(SECOND, 10);
    expect(StepKind.DEAD_LETTERS, "due in 0.010 s: the next writer takes it then");
    expect(StepKind.DEAD_LETTERS, "Before, MySQL has refused 2 rows");
  }

  @Test
  void whatDoesNotFitTogetherIsForTheDoctor() {
    claimed = TWO_ITEMS;
    expect(StepKind.BROKEN, "nobody has the claim");
    claim = new ClaimRecord("t.1", SECOND, 1, 0, 0, "w1");
    expect(StepKind.BROKEN, "without a lease");
    claimed = null;
    expect(StepKind.BROKEN, "the rows are gone");
    claim = null;
    sessions.add(new SessionRows(SECOND, TWO_ITEMS, RedisOwner.NONE, false, false));
    expect(StepKind.BROKEN, "nothing makes them due");
    foreign.add("{g:3}:due");
    expect(StepKind.BROKEN, "{g:3}:due holds somebody else's value");
  }

  @Test
  void aServerIsAway() {
    redisAnswers = false;
    expect(StepKind.CANNOT_TELL, "Redis does not answer");
    redisAnswers = true;
    mysqlAnswers = false;
    expect(StepKind.CANNOT_TELL, "MySQL does not answer");
    dirty(SECOND, 100);
    expect(StepKind.DUE_LATER, "due in 0.100 s");
  }

  @Test
  void nobodyKnowsIt() {
    owns = null;
    raised = null;
    expect(StepKind.NOT_KNOWN, "nobody has opened it");
  }

  private void sent(long dueMillis, boolean claimedByNobody) {
    OwnerId inbox = OWNER.inbox("1a2b3c4d");
    SessionId session = SessionId.ofInbox("1a2b3c4d");
    SessionRows waits =
        new SessionRows(session, claimedByNobody ? null : TWO_ITEMS, dueMillis, false, false);
    inboxes.put(
        inbox,
        new RedisOwner(
            NOW,
            session,
            -1,
            false,
            false,
            null,
            RedisOwner.NONE,
            claimedByNobody ? TWO_ITEMS : null,
            List.of(waits),
            List.of(),
            Map.of()));
  }

  @Test
  void whatWasSentWaitsAsTheOwnersOwnRows() {
    sent(NOW + 200, false);
    expect(StepKind.DUE_LATER, "due in 0.200 s");
    raised = null; // nobody has opened it
    owns = null;
    expect(StepKind.DUE_LATER, "due in 0.200 s");
  }

  @Test
  void whatIsWrongWithWhatWasSentIsNotHiddenByWhatIsNot() {
    dirty(SECOND, 200);
    sent(RedisOwner.NONE, true);
    expect(StepKind.BROKEN, "nobody has the claim");
  }
}

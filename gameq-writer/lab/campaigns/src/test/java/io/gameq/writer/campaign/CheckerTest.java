package io.gameq.writer.campaign;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.writer.campaign.Attempt.Outcome;
import io.gameq.writer.campaign.Violation.Kind;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A checker that cannot fail is worthless: planted violations are found, good histories pass. */
class CheckerTest {
  private static final String ROW = "item:1,1";
  private static final String A = "player:1";
  private static final String B = "player:2";

  private final History history = new History();

  private Attempt attempt(String id, long invokedAt, Outcome outcome, Change... changes) {
    return attempt(id, invokedAt, outcome, 1, changes);
  }

  private Attempt attempt(
      String id, long invokedAt, Outcome outcome, long epoch, Change... changes) {
    Attempt attempt =
        new Attempt(id, invokedAt, List.of(new Attempt.Part(A, epoch)), List.of(changes));
    attempt.end(outcome, invokedAt + 5);
    history.attempts.put(id, attempt);
    return attempt;
  }

  private static Change put(String row) {
    return new Change(row, A, true);
  }

  private static Change delete(String row) {
    return new Change(row, A, false);
  }

  private void saw(long from, long until, Map<String, String> rows) {
    history.sightings.add(new Sighting("read", from, until, A, "item", rows));
  }

  private List<Kind> check(Map<String, String> mysql) {
    Map<String, Held> held = new java.util.HashMap<>();
    mysql.forEach((row, value) -> held.put(row, new Held(A, value, 1)));
    return new Checker(history, held, Set.of()).check().stream().map(Violation::kind).toList();
  }

  @Test
  void theNewestAcknowledgedValuePasses() {
    attempt("1", 10, Outcome.OK, put(ROW));
    attempt("2", 20, Outcome.OK, put(ROW));
    saw(16, 18, Map.of(ROW, "1"));
    saw(26, 28, Map.of(ROW, "2"));
    assertEquals(List.of(), check(Map.of(ROW, "2")));
  }

  @Test
  void anUnansweredWriteMayHaveHappenedOrNot() {
    attempt("1", 10, Outcome.OK, put(ROW));
    attempt("2", 20, Outcome.UNANSWERED, put(ROW));
    attempt("3", 30, Outcome.UNKNOWN, delete(ROW));
    assertEquals(List.of(), check(Map.of(ROW, "1")));
    assertEquals(List.of(), check(Map.of(ROW, "2")));
    assertEquals(List.of(), check(Map.of()));
  }

  @Test
  void findsALostRow() {
    attempt("1", 10, Outcome.OK, put(ROW));
    assertEquals(List.of(Kind.LOST), check(Map.of()));
  }

  @Test
  void findsALostRowThatOnlyAFailedDeleteCouldExplain() {
    attempt("1", 10, Outcome.OK, put(ROW));
    attempt("2", 20, Outcome.FAIL, delete(ROW));
    assertEquals(List.of(Kind.LOST), check(Map.of()));
  }

  @Test
  void findsAStaleRow() {
    attempt("1", 10, Outcome.OK, put(ROW));
    attempt("2", 20, Outcome.OK, put(ROW));
    assertEquals(List.of(Kind.STALE), check(Map.of(ROW, "1")));
  }

  @Test
  void findsAResurrectedRow() {
    attempt("1", 10, Outcome.OK, put(ROW));
    attempt("2", 20, Outcome.OK, delete(ROW));
    assertEquals(List.of(Kind.RESURRECTED), check(Map.of(ROW, "1")));
  }

  @Test
  void findsAFailedWriteInMySql() {
    attempt("1", 10, Outcome.FAIL, put(ROW));
    assertEquals(List.of(Kind.RESURRECTED), check(Map.of(ROW, "1")));
  }

  @Test
  void findsAFailedWriteThatAReaderSaw() {
    attempt("1", 10, Outcome.OK, put(ROW));
    attempt("2", 20, Outcome.FAIL, put(ROW));
    saw(22, 24, Map.of(ROW, "2"));
    assertEquals(List.of(Kind.RESURRECTED), check(Map.of(ROW, "1")));
  }

  @Test
  void findsAValueThatNobodyWrote() {
    attempt("1", 10, Outcome.OK, put(ROW));
    assertEquals(List.of(Kind.RESURRECTED), check(Map.of(ROW, "x")));
  }

  @Test
  void findsAReadThatMissesAnAcknowledgedWrite() {
    attempt("1", 10, Outcome.OK, put(ROW));
    saw(16, 18, Map.of());
    attempt("2", 20, Outcome.OK, put(ROW));
    saw(26, 28, Map.of(ROW, "1"));
    assertEquals(List.of(Kind.LOST, Kind.STALE), check(Map.of(ROW, "2")));
  }

  @Test
  void findsAReadThatGoesBack() {
    attempt("1", 10, Outcome.OK, put(ROW));
    attempt("2", 20, Outcome.UNKNOWN, put(ROW));
    saw(30, 32, Map.of(ROW, "2"));
    saw(40, 42, Map.of(ROW, "1"));
    assertEquals(List.of(Kind.STALE), check(Map.of(ROW, "2")));
  }

  @Test
  void findsARowThatComesBackAfterItWasSeenGone() {
    attempt("1", 10, Outcome.OK, put(ROW));
    attempt("2", 20, Outcome.UNKNOWN, delete(ROW));
    saw(30, 32, Map.of());
    saw(40, 42, Map.of(ROW, "1"));
    assertEquals(List.of(Kind.RESURRECTED), check(Map.of()));
  }

  @Test
  void findsHalfOfACommit() {
    attempt("1", 10, Outcome.UNKNOWN, put(ROW), put("item:1,2"));
    assertEquals(List.of(Kind.LOST), check(Map.of(ROW, "1")));
  }

  @Test
  void findsARowThatTwoOwnersShow() {
    attempt("1", 10, Outcome.OK, put(ROW));
    attempt("2", 20, Outcome.OK, new Change(ROW, B, true));
    saw(30, 32, Map.of(ROW, "1"));
    Map<String, Held> held = Map.of(ROW, new Held(B, "2", 1));
    assertEquals(
        List.of(Kind.STALE),
        new Checker(history, held, Set.of()).check().stream().map(Violation::kind).toList());
  }

  @Test
  void findsACommitOfASessionThatHadLostItsOwner() {
    history.openings.add(new OpenAttempt(A, 2, 15, "other"));
    attempt("1", 10, Outcome.OK, 1, put(ROW));
    assertEquals(List.of(), check(Map.of(ROW, "1")));
    attempt("2", 20, Outcome.OK, 1, put(ROW));
    assertEquals(List.of(Kind.RESURRECTED), check(Map.of(ROW, "2")));
  }

  @Test
  void aDeadLetterIsReportedAndNotLost() {
    attempt("1", 10, Outcome.OK, put(ROW));
    attempt("2", 20, Outcome.OK, put(ROW));
    Map<String, Held> held = Map.of(ROW, new Held(A, "1", 1));
    assertEquals(List.of(), new Checker(history, held, Set.of(ROW + "=2")).check());
  }

  @Test
  void aDeadLetterOfADeleteIsReportedAndNotResurrected() {
    attempt("1", 10, Outcome.OK, put(ROW));
    attempt("2", 20, Outcome.OK, delete(ROW));
    Map<String, Held> held = Map.of(ROW, new Held(A, "1", 1));
    assertEquals(List.of(), new Checker(history, held, Set.of(ROW + "=")).check());
    assertEquals(
        List.of(Kind.RESURRECTED),
        new Checker(history, held, Set.of()).check().stream().map(Violation::kind).toList());
  }

  @Test
  void findsARefusedRowThatNoDeadLetterNames() {
    attempt("1", 10, Outcome.OK, put(ROW));
    attempt("2", 20, Outcome.OK, put(ROW));
    assertEquals(
        List.of(Kind.LOST),
        new Checker(history, Map.of(), Set.of(ROW + "=1"))
            .check().stream().map(Violation::kind).toList());
  }

  @Test
  void aReadMayGoBackUntilNodesHaveHealedAndNotAfterwards() {
    attempt("1", 10, Outcome.OK, put(ROW));
    attempt("2", 20, Outcome.OK, put(ROW));
    history.windows.add(new Window(24, 50));
    saw(26, 28, Map.of(ROW, "1"));
    saw(30, 32, Map.of());
    assertEquals(List.of(), check(Map.of(ROW, "2")));
    saw(51, 53, Map.of(ROW, "1"));
    assertEquals(List.of(Kind.STALE), check(Map.of(ROW, "2")));
  }

  @Test
  void findsWhatAFailoverLostForGood() {
    attempt("1", 10, Outcome.OK, put(ROW));
    attempt("2", 20, Outcome.OK, put(ROW));
    history.windows.add(new Window(15, 50));
    assertEquals(List.of(Kind.STALE), check(Map.of(ROW, "1")));
  }

  /** A conflict about the version that an attempt of this age gave to the row. */
  private void conflict(String row, long agoNanos) {
    long millis = System.currentTimeMillis() - TimeUnit.NANOSECONDS.toMillis(agoNanos);
    history.conflicts.add(new ReportedConflict(row, millis << 16, true));
  }

  @Test
  void aConflictThatNamesARowExcusesWhatWasWrittenOfItBeforeAndNothingElse() {
    long now = System.nanoTime();
    long second = TimeUnit.SECONDS.toNanos(1);
    attempt("1", now - 9 * second, Outcome.OK, put(ROW), put("item:1,2"));
    attempt("2", now - 5 * second, Outcome.OK, put(ROW));
    conflict(ROW, 4 * second);
    assertEquals(List.of(Kind.LOST), check(Map.of()), "item:1,2 was not named");
    assertEquals(List.of(), check(Map.of("item:1,2", "1")));
    attempt("3", now - 3 * second, Outcome.OK, put(ROW));
    assertEquals(List.of(Kind.LOST), check(Map.of("item:1,2", "1")), "3 is newer than named");
  }

  @Test
  void aConflictDoesNotExcuseWhatHadBecomeDurable() {
    long now = System.nanoTime();
    long second = TimeUnit.SECONDS.toNanos(1);
    attempt("1", now - 9 * second, Outcome.OK, put(ROW)).durable = true;
    attempt("2", now - 5 * second, Outcome.OK, put(ROW));
    conflict(ROW, 4 * second);
    assertEquals(List.of(), check(Map.of(ROW, "1")));
    assertEquals(List.of(Kind.LOST), check(Map.of()));
  }

  @Test
  void aCutOffPrimaryMayAcknowledgeWhatNobodyEverSees() {
    history.openings.add(new OpenAttempt(A, 2, 15, "other"));
    history.windows.add(new Window(12, 50));
    attempt("1", 20, Outcome.OK, 1, put(ROW));
    conflict(ROW, 0);
    assertEquals(List.of(), check(Map.of()));
    assertEquals(List.of(Kind.RESURRECTED), check(Map.of(ROW, "1")));
  }

  @Test
  void aReadMayMissWhatAnotherNodeOverwroteUnseenAndMySqlMayNot() {
    history.windows.add(new Window(5, 17));
    attempt("1", 2, Outcome.OK, 1, put(ROW));
    attempt("2", 10, Outcome.OK, 1, put(ROW));
    history.openings.add(new OpenAttempt(A, 2, 15, "2"));
    saw(30, 32, Map.of(ROW, "1"));
    assertEquals(List.of(Kind.STALE), check(Map.of(ROW, "2")), "it opened the owner itself");
    history.openings.add(new OpenAttempt(A, 3, 16, "other"));
    assertEquals(List.of(), check(Map.of(ROW, "2")));
    assertEquals(List.of(Kind.STALE), check(Map.of(ROW, "1")));
  }
}

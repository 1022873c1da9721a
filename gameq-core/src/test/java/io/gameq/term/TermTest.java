package io.gameq.term;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.term.Term.Relation;
import org.junit.jupiter.api.Test;

/** Which of two primaries is the newer, by what Redis 6.2 and 8.0 and Sentinel tell. */
class TermTest {
  private static final long NONE = Primary.NO_SENTINEL;

  private final Term alone = new Term(4, "run-p", "repl-p", "redis-1:6379", NONE, "", "", 1_000);
  private final Term watched = new Term(4, "run-p", "repl-p", "redis-1:6379", 7, "", "", 1_000);

  private static Term silent(Term term) {
    return new Term(
        term.number(),
        term.runId(),
        term.replId(),
        term.address(),
        term.sentinelEpoch(),
        "run-former",
        "repl-former",
        Term.SILENT_MILLIS);
  }

  private static Primary seen(String runId, String replId, String from, String at, long epoch) {
    return new Primary(runId, replId, from, at, epoch);
  }

  @Test
  void firstPrimaryOfADatabaseCounts() {
    Term none = new Term(0, "", "", "", NONE, "", "", 0);
    assertEquals(Relation.NEWER, none.relation(seen("run-p", "repl-p", "0", "a:1", NONE)));
  }

  @Test
  void sameProcessIsTheSamePrimaryWhateverItsHistoryIsCalledAndUnderAnyName() {
    assertEquals(
        Relation.SAME, alone.relation(seen("run-p", "repl-new", "0", "127.0.0.1:6379", NONE)));
    assertEquals(Relation.SAME, watched.relation(seen("run-p", "repl-p", "0", "redis-1:6379", 3)));
  }

  @Test
  void laterFailoverOfSentinelWinsAndAnEarlierOneDoesNot() {
    assertEquals(Relation.NEWER, watched.relation(seen("run-q", "q", "?", "redis-2:6379", 8)));
    assertEquals(Relation.OLDER, watched.relation(seen("run-o", "o", "?", "redis-0:6379", 6)));
  }

  @Test
  void serverThatWasRestartedBeforeSentinelNoticedTakesItsOwnPlace() {
    assertEquals(Relation.NEWER, watched.relation(seen("run-p2", "p2", "0", "redis-1:6379", 7)));
    assertEquals(Relation.OLDER, watched.relation(seen("run-x", "x", "0", "redis-9:6379", 7)));
  }

  @Test
  void promotedReplicaProvesByItsHistoryFromWhichPrimaryItTookOver() {
    assertEquals(
        Relation.NEWER, alone.relation(seen("run-q", "q", "repl-p", "redis-2:6379", NONE)));
    assertEquals(
        Relation.NEWER, watched.relation(seen("run-q", "q", "repl-p", "redis-2:6379", NONE)));
    assertEquals(Relation.OLDER, alone.relation(seen("run-x", "x", "other", "redis-2:6379", NONE)));
  }

  @Test
  void serverThatWasRestartedWithOrWithoutItsDataTakesItsOwnPlaceWithoutSentinel() {
    assertEquals(Relation.NEWER, alone.relation(seen("run-p2", "p2", "0", "redis-1:6379", NONE)));
    assertEquals(
        Relation.NEWER, alone.relation(seen("run-p2", "p2", "repl-p", "redis-1:6379", NONE)));
  }

  @Test
  void formerPrimaryComesBackOnlyAfterItWasPromotedAgain() {
    Term silent = silent(alone);
    assertEquals(
        Relation.OLDER,
        silent.relation(seen("run-former", "repl-former", "0", "redis-1:6379", NONE)));
    assertEquals(
        Relation.NEWER, silent.relation(seen("run-former", "new", "repl-p", "redis-0:6379", NONE)));
  }

  @Test
  void unknownPrimaryTakesOverOnceTheOtherHasBeenSilent() {
    assertEquals(
        Relation.NEWER, silent(alone).relation(seen("run-x", "x", "0", "redis-9:6379", NONE)));
    assertEquals( // Sentinels that were set up anew begin to count again
        Relation.NEWER, silent(watched).relation(seen("run-x", "x", "0", "redis-9:6379", 0)));
  }

  @Test
  void whoCannotTellPrimariesApartIsNotCompared() {
    assertEquals(true, Term.counts(Term.NOT_KNOWN, 4));
    assertEquals(true, Term.counts(4, 4));
    assertEquals(false, Term.counts(3, 4));
  }
}

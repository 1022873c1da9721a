package io.gameq.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.term.Term.Primary;
import io.gameq.term.Term.Relation;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which of two primaries is the newer, by what Redis 6.2 and 8.0 and Sentinel tell. */
class TermTest {
  private static final long NONE = Primary.NO_SENTINEL;

  private final Term alone = new Term(4, "run-p", "repl-p", "redis-1:6379", NONE, "", 1_000);
  private final Term watched = new Term(4, "run-p", "repl-p", "redis-1:6379", 7, "", 1_000);

  private static Term silent(Term term) {
    return new Term(
        term.number(),
        term.runId(),
        term.replId(),
        term.address(),
        term.sentinelEpoch(),
        "run-former:repl-for",
        86_400_000);
  }

  private static Primary seen(String runId, String replId, String from, String at, long epoch) {
    return new Primary(runId, replId, from, at, epoch);
  }

  @Test
  void firstPrimaryOfADatabaseCounts() {
    Term none = new Term(0, "", "", "", NONE, "", 0);
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

  /** A name may still lead to it, and it may call its history anew when nobody replicates it. */
  @Test
  void noneOfThePrimariesBeforeComesBackByAnAddress() {
    Term now = alone;
    for (String run : List.of("1111111111", "2222222222")) {
      now =
          new Term(now.number() + 1, run, "r", "redis-1:6379", NONE, now.formersWithThis(), 1_000);
    }
    assertEquals("11111111:r run-p:repl-p", now.formers());
    for (String former : List.of("1111111111", "run-p")) {
      for (String replId : List.of("r", "repl-p", "anew")) {
        assertEquals(
            Relation.OLDER, now.relation(seen(former, replId, "0000", "redis-1:6379", NONE)));
      }
    }
    assertEquals( // promoted again, from one that nobody saw
        Relation.NEWER, now.relation(seen("run-p", "anew", "unseen", "redis-1:6379", NONE)));
    assertEquals(Relation.NEWER, now.relation(seen("4444444444", "n", "0", "redis-1:6379", NONE)));
    for (int i = 0; i < 20; i++) {
      now = new Term(9, "0123456789ab", "0123456789ab", "a:1", NONE, now.formersWithThis(), 0);
    }
    assertEquals(3, now.formers().split(" ", -1).length, now.formers());
    Term ofBefore = new Term(5, "run-q", "q", "a:1", NONE, "0123456789abcdef", 0);
    assertEquals(
        Relation.OLDER, ofBefore.relation(seen("0123456789abcdef", "x", "y", "a:1", NONE)));
  }

  @Test
  void unknownPrimaryNeverTakesOverHoweverSilentTheOtherIs() {
    for (Term term : List.of(alone, watched, silent(alone), silent(watched))) {
      assertEquals(Relation.OLDER, term.relation(seen("run-x", "x", "0", "redis-9:6379", NONE)));
    }
    assertEquals( // a Sentinel alone is no proof: that of another Redis has its own epochs
        Relation.OLDER, silent(alone).relation(seen("run-x", "x", "0", "redis-9:6379", 12)));
  }

  @Test
  void sentinelsThatWereSetUpAnewAndCountFromTheBeginningGoByTheReplica() {
    assertEquals(Relation.NEWER, watched.relation(seen("run-q", "q", "repl-p", "redis-2:6379", 0)));
    assertEquals(Relation.OLDER, watched.relation(seen("run-x", "x", "0", "redis-9:6379", 0)));
  }

  /** Writers beside Redis and nodes elsewhere call it by other names. */
  @Test
  void serverThatWasRestartedTakesItsOwnPlaceUnderEachOfItsAddresses() {
    String all = alone.addressesWith("game-1/127.0.0.1:6379");
    assertEquals("game-1/127.0.0.1:6379 redis-1:6379", all);
    Term both = new Term(4, "run-p", "repl-p", all, NONE, "", 1_000);
    assertEquals(all.length(), both.addressesWith("redis-1:6379").length());
    assertEquals(Relation.NEWER, both.relation(seen("run-p2", "p2", "0", "redis-1:6379", NONE)));
    assertEquals(
        Relation.NEWER, both.relation(seen("run-p2", "p2", "0", "game-1/127.0.0.1:6379", NONE)));
    assertEquals( // of another host
        Relation.OLDER, both.relation(seen("run-x", "x", "0", "game-2/127.0.0.1:6379", NONE)));
    Term many = both;
    for (int i = 0; i < 100; i++) {
      many = new Term(4, "run-p", "repl-p", many.addressesWith("host-" + i + ":6379"), NONE, "", 0);
    }
    assertTrue(many.address().length() <= 255, many.address());
    assertTrue(many.addresses().contains("host-99:6379"), "the latest stay");
  }

  @Test
  void whoCannotTellPrimariesApartIsNotCompared() {
    assertEquals(true, Term.counts(Term.NOT_KNOWN, 4));
    assertEquals(true, Term.counts(4, 4));
    assertEquals(false, Term.counts(3, 4));
  }
}

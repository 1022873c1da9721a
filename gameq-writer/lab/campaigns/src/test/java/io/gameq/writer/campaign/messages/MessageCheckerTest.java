package io.gameq.writer.campaign.messages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.writer.campaign.messages.MessageViolation.Kind;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A checker that cannot fail is worthless: planted violations are found, good notes pass. */
class MessageCheckerTest {
  private static final long LEASE = 1_500;

  private final MessageHistory history = new MessageHistory();
  private final Set<String> dead = new HashSet<>();
  private final Set<String> rows = new HashSet<>();
  private Trouble trouble = Trouble.NONE;

  private static long nanosOf(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private static String nanos(long millis) {
    return Long.toString(nanosOf(millis));
  }

  private void publish(long at, String id, String commit, String key, Errand.Kind kind) {
    publish(at, id, commit, key, kind, MessageNotes.ALONE);
  }

  private void publish(
      long at, String id, String commit, String key, Errand.Kind kind, String what) {
    String lane = key.contains(":") ? key.substring(0, key.indexOf(':') + 1) : key;
    history.readLine("publish", nanos(at), id, commit, "errand", lane, key, "0", kind.name(), what);
  }

  private void queued(long at, String id) {
    publish(at, id, id, id, Errand.Kind.QUICK);
    note("queued", at, id);
  }

  private void note(String what, long at, String of) {
    history.readLine(what, nanos(at), of);
  }

  private void taken(long at, String take, String id, String lane, long fence, int attempt) {
    taken(at, take, id, lane, fence, attempt, at);
  }

  private void taken(
      long at, String take, String id, String lane, long fence, int attempt, long due) {
    taken(at, take, id, lane, fence, attempt, due, "n1.1");
  }

  private void taken(
      long at,
      String take,
      String id,
      String lane,
      long fence,
      int attempt,
      long due,
      String process) {
    history.readLine(
        "taken",
        nanos(at),
        take,
        id,
        lane,
        Long.toString(fence),
        Integer.toString(attempt),
        Long.toString(due),
        nanos(at),
        nanos(at + LEASE),
        process);
  }

  private void handled(long at, String take, String id, String lane, long fence) {
    taken(at, take, id, lane, fence, 1);
    note("done", at + 10, take);
  }

  /** Message a, by take t1, with the rows of commit c1. */
  private void handledWithRows() {
    publish(1, "a", "a", "a", Errand.Kind.ROWS);
    note("queued", 2, "a");
    taken(20, "t1", "a", "a", 1, 1);
    history.readLine("rows", nanos(21), "t1", "c1");
    note("done", 22, "t1");
  }

  private List<Kind> check() {
    return new MessageChecker(history, dead, rows, trouble)
        .check().violations().stream().map(MessageViolation::kind).toList();
  }

  @Test
  void whatWasHandledOncePasses() {
    queued(10, "a");
    handled(20, "t1", "a", "a", 1);
    assertEquals(List.of(), check());
  }

  @Test
  void findsAMessageThatNobodyHandled() {
    queued(10, "a");
    assertEquals(List.of(Kind.LOST), check());
  }

  @Test
  void findsAMessageWhoseOnlyHandlerDied() {
    queued(10, "a");
    taken(20, "t1", "a", "a", 1, 1);
    assertEquals(List.of(Kind.LOST), check());
  }

  @Test
  void aDeadLetterADeletedAndAMergedMessageAreNotLost() {
    publish(10, "cursed", "cursed", "cursed", Errand.Kind.CURSED);
    note("queued", 10, "cursed");
    dead.add("cursed");
    queued(10, "gone");
    note("delete", 15, "gone");
    publish(10, "first", "first", "key", Errand.Kind.QUICK);
    note("queued", 10, "first");
    publish(11, "second", "second", "key", Errand.Kind.QUICK);
    handled(20, "t1", "second", "key", 1);
    assertEquals(List.of(), check());
  }

  @Test
  void findsAMessageOfWhichOnlyAnEarlierPayloadWasHandled() {
    publish(10, "first", "first", "key", Errand.Kind.QUICK);
    publish(11, "second", "second", "key", Errand.Kind.QUICK);
    note("queued", 12, "second");
    handled(20, "t1", "first", "key", 1);
    assertEquals(List.of(Kind.LOST), check());
  }

  @Test
  void findsADeadLetterThatHadAttemptsLeft() {
    queued(10, "a");
    dead.add("a");
    assertEquals(List.of(Kind.DEAD), check());
  }

  @Test
  void findsARefusedPublishThatWasHandled() {
    publish(10, "a", "a", "a", Errand.Kind.QUICK);
    note("refused", 12, "a");
    handled(20, "t1", "a", "a", 1);
    assertEquals(List.of(Kind.REVIVED), check());
  }

  @Test
  void findsWhatNobodyPublished() {
    handled(20, "t1", "a", "a", 1);
    assertEquals(List.of(Kind.REVIVED), check());
  }

  @Test
  void findsADeletedMessageThatIsTakenAfterwards() {
    queued(10, "a");
    note("delete", 12, "a");
    note("deleted", 14, "a");
    handled(20, "t1", "a", "a", 1);
    assertEquals(List.of(Kind.REVIVED), check());
  }

  @Test
  void handledAgainAfterItsLeaseRanOutIsCountedAndPasses() {
    queued(10, "a");
    taken(20, "t1", "a", "a", 1, 1);
    taken(2_000, "t2", "a", "a", 2, 2);
    note("done", 2_010, "t2");
    MessageOutcome outcome = new MessageChecker(history, dead, rows, trouble).check();
    assertEquals(List.of(), outcome.violations());
    assertEquals(1, outcome.twice());
  }

  @Test
  void findsASecondRunAfterTheFirstHadReturnedInTime() {
    queued(10, "a");
    handled(20, "t1", "a", "a", 1);
    handled(2_000, "t2", "a", "a", 2);
    assertEquals(List.of(Kind.TWICE), check());
  }

  @Test
  void aFaultMayHoldAnAcknowledgementBackUntilTheLeaseHasRunOut() {
    queued(10, "a");
    handled(20, "t1", "a", "a", 1);
    taken(2_000, "t2", "a", "a", 2, 2);
    note("done", 2_010, "t2");
    trouble = Trouble.notForgetting(nanosOf(25), nanosOf(1_900));
    assertEquals(List.of(), check());
  }

  @Test
  void whoWasKilledBeforeItsRowsWereSentMayHaveASuccessor() {
    handledWithRows();
    taken(2_000, "t2", "a", "a", 2, 2, 2_000, "n2.1");
    note("done", 2_010, "t2");
    rows.add("c1");
    assertEquals(List.of(Kind.TWICE), check());
    trouble = Trouble.notForgetting(nanosOf(25), nanosOf(1_900));
    assertEquals(List.of(), check());
    publish(3, "b", "b", "b", Errand.Kind.QUICK);
    handled(900, "t3", "b", "b", 1); // it lived on
    assertEquals(List.of(Kind.TWICE), check());
  }

  @Test
  void findsASecondRunThatRedisDoesNotKnowToBeOne() {
    queued(10, "a");
    handled(20, "t1", "a", "a", 1);
    handled(2_000, "t2", "a", "a", 2);
    trouble = Trouble.notForgetting(nanosOf(25), nanosOf(1_900));
    assertEquals(List.of(Kind.TWICE), check());
  }

  @Test
  void findsWhatIsHandledAgainThoughItsAcknowledgementWasPutBack() {
    queued(10, "a");
    handled(20, "t1", "a", "a", 1);
    handled(2_000, "t2", "a", "a", 2);
    trouble = forgetting(5, 1_000, 1_900, false);
    assertEquals(List.of(Kind.TWICE), check());
    trouble = new Trouble(nanosOf(5), nanosOf(1_900), nanosOf(2_100), nanosOf(1_000), false);
    assertEquals(List.of(), check(), "not yet when it was taken");
    trouble = forgetting(5, 1_000, 1_900, true);
    assertEquals(List.of(), check());
    trouble = forgetting(5, 40, 1_900, false);
    assertEquals(List.of(), check(), "it had no answer when its claim was forgotten");
  }

  @Test
  void aMessageMayBeLostWithItsRowAndNotWithoutIt() {
    publish(10, "a", "a", "a", Errand.Kind.QUICK, MessageNotes.WITH_ROW);
    note("queued", 12, "a");
    assertEquals(List.of(Kind.LOST), check());
    trouble = forgetting(5, 40, 1_900, false);
    assertEquals(List.of(), check());
    rows.add("a");
    assertEquals(List.of(Kind.LOST, Kind.HALF), check());
  }

  @Test
  void aClockThatGoesAheadEndsLeasesAndDelaysOfThatMomentAndOfNoOther() {
    twoHandlersOfOneGroup();
    trouble = leaping(31, 40);
    assertEquals(List.of(Kind.TOGETHER), check());
    trouble = leaping(22, 24);
    assertEquals(List.of(), check());
  }

  private void twoHandlersOfOneGroup() {
    publish(10, "a", "a", "g:a", Errand.Kind.QUICK);
    publish(10, "b", "b", "g:b", Errand.Kind.QUICK);
    taken(20, "t1", "a", "g:", 1, 1);
    taken(25, "t2", "b", "g:", 2, 1);
    note("done", 30, "t1");
    note("done", 35, "t2");
  }

  private static Trouble leaping(long from, long until) {
    return Trouble.NONE.with(List.of(new Trouble.Leap(nanosOf(from), nanosOf(until))));
  }

  private static Trouble forgetting(long from, long at, long until, boolean stalls) {
    return new Trouble(nanosOf(from), nanosOf(until), nanosOf(from), nanosOf(at), stalls);
  }

  @Test
  void findsTwoHandlersOfOneGroupAtATime() {
    twoHandlersOfOneGroup();
    assertEquals(List.of(Kind.TOGETHER), check());
  }

  @Test
  void whatThrewMayBeTakenAgainWithinItsLease() {
    publish(10, "a", "a", "a", Errand.Kind.FLAKY);
    taken(20, "t1", "a", "a", 1, 1);
    note("threw", 22, "t1");
    taken(200, "t2", "a", "a", 2, 2);
    note("done", 210, "t2");
    assertEquals(List.of(), check());
  }

  @Test
  void findsAGroupOutOfOrder() {
    publish(1, "a", "a", "g:a", Errand.Kind.QUICK);
    note("queued", 2, "a");
    publish(3, "b", "b", "g:b", Errand.Kind.QUICK);
    note("queued", 4, "b");
    taken(20, "t1", "b", "g:", 1, 1, 15);
    note("done", 25, "t1");
    taken(30, "t2", "a", "g:", 2, 1, 10);
    note("done", 35, "t2");
    assertEquals(List.of(Kind.ORDER), check());
  }

  @Test
  void findsAnOwnersMessageThatAnotherOwnersSessionHandled() {
    publish(1, "a", "a", "g:a", Errand.Kind.QUICK);
    handled(20, "t1", "a", "h:", 1);
    assertEquals(List.of(Kind.STRANGER), check());
  }

  @Test
  void findsRowsOfAnOwnerOutOfOrder() {
    for (String id : List.of("a", "b")) {
      history.readLine(
          "publish", nanos(1), id, id, "owned", "g:", "g:" + id, "0", "ROWS", MessageNotes.ALONE);
      note("queued", 2, id);
    }
    taken(20, "t1", "a", "g:", 1, 1, 5);
    history.readLine("rows", nanos(21), "t1", "c1");
    taken(30, "t2", "b", "g:", 2, 1, 6);
    history.readLine("rows", nanos(31), "t2", "c2");
    note("done", 32, "t2");
    taken(40, "t3", "a", "g:", 3, 1, 5);
    history.readLine("rows", nanos(41), "t3", "c3");
    rows.addAll(List.of("c2", "c3"));
    assertTrue(check().contains(Kind.ORDER));
  }

  @Test
  void findsANumberThatDoesNotRise() {
    publish(1, "a", "a", "g:a", Errand.Kind.QUICK);
    publish(1, "b", "b", "g:b", Errand.Kind.QUICK);
    handled(20, "t1", "a", "g:", 2);
    handled(40, "t2", "b", "g:", 2);
    assertEquals(List.of(Kind.FENCE), check());
  }

  @Test
  void findsRowsThatWereAppliedTwiceOrNotAtAll() {
    handledWithRows();
    assertEquals(List.of(Kind.LOST), check());
    rows.add("c1");
    assertEquals(List.of(), check());
    taken(1_600, "t2", "a", "a", 2, 2);
    history.readLine("rows", nanos(1_601), "t2", "c2");
    note("done", 1_602, "t2");
    rows.add("c2");
    assertEquals(List.of(Kind.ROWS, Kind.TWICE), check());
  }

  @Test
  void findsACommitThatWasAppliedInPart() {
    publish(1, "a", "c", "a", Errand.Kind.QUICK);
    publish(1, "b", "c", "b", Errand.Kind.QUICK);
    note("unsure", 2, "c");
    handled(20, "t1", "a", "a", 1);
    assertEquals(List.of(Kind.HALF), check());
  }

  @Test
  void findsAMessageWithoutItsRowAndARowWithoutItsMessage() {
    publish(1, "a", "a", "a", Errand.Kind.QUICK, MessageNotes.WITH_ROW);
    note("unsure", 2, "a");
    handled(20, "t1", "a", "a", 1);
    assertEquals(List.of(Kind.HALF), check());
    rows.add("a");
    publish(1, "b", "b", "b", Errand.Kind.QUICK, MessageNotes.WITH_ROW);
    rows.add("b");
    assertEquals(List.of(Kind.HALF), check());
  }

  @Test
  void findsAMessageThatWasHandledBeforeItWasDue() {
    history.readLine(
        "publish", nanos(10), "a", "a", "errand", "a", "a", "300", "QUICK", MessageNotes.ALONE);
    handled(205, "t1", "a", "a", 1);
    assertEquals(List.of(Kind.EARLY), check());
  }
}

package io.gameq.writer.campaign;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.writer.campaign.Attempt.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Planted violations of rows that were sent are found, good histories pass. */
class SentChecksTest {
  private static final String A = "player:1";
  private static final String B = "player:2";
  private static final String MAIL = "mail:1";
  private static final String DEED = "deed:1";

  private final History history = new History();
  private final Map<String, Held> mysql = new HashMap<>();
  private final List<Violation> violations = new ArrayList<>();

  private void attempt(String id, List<Attempt.Part> parts, Change... changes) {
    Attempt attempt = new Attempt(id, 10, parts, List.of(changes));
    attempt.end(Outcome.OK, 20);
    history.attempts.put(id, attempt);
  }

  private void sentAlone() {
    attempt("a", List.of(), new Change(MAIL, B, true));
  }

  private void sentWithDeed() {
    attempt(
        "a", List.of(new Attempt.Part(A, 1)), new Change(DEED, A, true), new Change(MAIL, B, true));
  }

  private void mysqlHas(String row, String owner) {
    mysql.put(row, new Held(owner, "a", 1));
  }

  private final Set<String> setAside = new HashSet<>();

  private SentOutcome check(Set<String> keysInUse) {
    return new SentChecks(history, new SentEnd(mysql, Map.of(B, 7L), setAside, keysInUse))
        .check(violations);
  }

  @Test
  void aRowThatItsHolderLoadedOrWasToldOfPasses() {
    sentAlone();
    mysqlHas(MAIL, B);
    Attempt.Part holder = new Attempt.Part(B, 7);
    history.holders.add(holder);
    history.told.add(new Told(holder, MAIL, 30));
    SentOutcome outcome = check(Set.of());
    assertEquals(List.of(), outcome.untold());
    assertEquals(1, outcome.sent());
    assertEquals(0, outcome.together());
    history.told.clear();
    history.sightings.add(new Sighting("open 7", 30, 40, B, "mail", Map.of(MAIL, "a")));
    assertEquals(List.of(), check(Set.of()).untold());
    assertEquals(List.of(), violations);
  }

  @Test
  void findsARowThatOnlyASessionBeforeWasToldOf() {
    sentAlone();
    mysqlHas(MAIL, B);
    history.holders.add(new Attempt.Part(B, 7));
    history.told.add(new Told(new Attempt.Part(B, 6), MAIL, 30));
    assertEquals(1, check(Set.of()).untold().size());
  }

  @Test
  void whoHasTheOwnerNoMoreNeedNotBeTold() {
    sentAlone();
    mysqlHas(MAIL, B);
    history.holders.add(new Attempt.Part(B, 6));
    assertEquals(List.of(), check(Set.of()).untold());
  }

  @Test
  void countsWhatOneSessionWasToldTwice() {
    sentAlone();
    history.told.add(new Told(new Attempt.Part(B, 7), MAIL, 30));
    history.told.add(new Told(new Attempt.Part(B, 7), MAIL, 40));
    history.told.add(new Told(new Attempt.Part(B, 8), MAIL, 50));
    assertEquals(1, check(Set.of()).twice());
  }

  @Test
  void findsHalfOfACommit() {
    sentWithDeed();
    mysqlHas(DEED, A);
    assertEquals(1, check(Set.of()).together());
    assertEquals(List.of("half of a (OK)"), violations.stream().map(Violation::what).toList());
  }

  @Test
  void aRowThatIsADeadLetterMakesNoHalf() {
    sentWithDeed();
    mysqlHas(MAIL, B);
    setAside.add(DEED);
    assertEquals(0, check(Set.of()).halves());
    assertEquals(List.of(), violations);
  }

  @Test
  void aHalfThatWasReportedIsCountedApartAndADeletedOneIsNone() {
    sentWithDeed();
    mysqlHas(MAIL, B);
    history.conflicts.add(new ReportedConflict(DEED, 1, true));
    assertEquals(1, check(Set.of()).halves());
    history.conflicts.clear();
    mysql.clear();
    mysqlHas(DEED, A);
    attempt("b", List.of(new Attempt.Part(B, 7)), new Change(MAIL, B, false));
    assertEquals(0, check(Set.of()).halves());
    assertEquals(List.of(), violations);
  }

  @Test
  void findsARowThatWasSetAsideThoughItsKeyIsNew() {
    sentAlone();
    assertEquals(1, check(Set.of(MAIL)).lost());
  }
}

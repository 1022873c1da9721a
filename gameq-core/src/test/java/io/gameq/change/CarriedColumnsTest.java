package io.gameq.change;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.change.CarriedColumns.Carried;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CarriedColumnsTest {
  private static final Carried HORNS = new Carried(Map.of("horns", 9L), false);

  private final CarriedColumns carried = new CarriedColumns();

  private static ChangedRow row(String key, char op) {
    return new ChangedRow(key, ("0000000000000000" + op).getBytes(StandardCharsets.US_ASCII));
  }

  private void submit(ChangedRow... rows) {
    carried.submitted(List.of(rows), Set::of);
  }

  @Test
  void aRowIsMadeAnewAfterADeleteUnlessThatFailed() {
    ChangedRow deleted = row("pet:1", 'd');
    assertTrue(requireNonNull(carried.of("pet:1", deleted)).isAnew(), "still staged");
    assertNull(carried.of("pet:1"), "a rollback may follow");
    submit(deleted);
    assertTrue(requireNonNull(carried.of("pet:1")).isAnew());
    carried.failed(List.of(deleted));
    assertNull(carried.of("pet:1"));
  }

  @Test
  void whatMovesInIsCarriedOnceItsCommitIsSubmittedAndNotForgottenBefore() {
    carried.movesIn("pet:1", HORNS);
    carried.settled();
    assertNull(carried.of("pet:1"));
    submit(row("pet:1", 'p').asMovedIn());
    assertEquals(HORNS, carried.of("pet:1"));
    carried.settled();
    assertNull(carried.of("pet:1"), "it is in MySQL");
  }

  @Test
  void onlyRowsThatWaitAreRememberedHoweverManyAreDeleted() {
    for (int i = 0; i <= 1_000; i++) {
      String key = "pet:" + i;
      carried.submitted(List.of(row(key, 'd')), () -> Set.of("pet:7"));
    }
    assertNull(carried.of("pet:8"));
    assertNotNull(carried.of("pet:7"));
  }
}

package io.gameq.mysql.flush;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.flush.FlushTransaction.MassRefusals;
import io.gameq.owner.OwnerId;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MassRefusalsTest {
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

  private long nanos = 7 * MINUTE;
  private int players;
  private final MassRefusals refusals = new MassRefusals(() -> nanos);

  /** Rows of many owners. */
  private boolean isMass(String table, int written, int refused) {
    return refusals.isMass(
        table,
        written,
        IntStream.range(0, refused).mapToObj(i -> OwnerId.of("player:" + ++players % 5)).toList());
  }

  @Test
  void whatTwoOwnersDoWrongIsTheirMatter() {
    List<OwnerId> two = List.of(OwnerId.of("player:1"), OwnerId.of("player:2"));
    for (int i = 0; i < 1_000; i++) {
      assertFalse(refusals.isMass("pet", 0, two));
    }
  }

  @Test
  void aHundredRefusedRowsAreTooManyWhenFewerPass() {
    for (int i = 0; i < 99; i++) {
      assertFalse(isMass("pet", 0, 1), "single bad rows");
    }
    assertTrue(isMass("pet", 0, 1));
    assertFalse(isMass("toy", 0, 1), "another table");
  }

  @Test
  void manyRefusedRowsAreSingleOnesWhenMorePass() {
    assertFalse(isMass("pet", 301, 300));
    assertTrue(isMass("pet", 0, 2));
  }

  @Test
  void whatWasAMinuteAgoDoesNotCount() {
    assertFalse(isMass("pet", 0, 99));
    nanos += MINUTE;
    assertFalse(isMass("pet", 0, 99));
  }

  @Test
  void aRefusedTableStaysSoUntilMostRowsPassHoweverFewAreTried() {
    assertTrue(isMass("pet", 0, 100));
    nanos += 10 * MINUTE;
    assertTrue(isMass("pet", 0, 1));
    assertTrue(isMass("pet", 1, 1));
    assertFalse(isMass("pet", 2, 1));
    assertFalse(isMass("pet", 0, 98), "counted afresh");
  }
}

package io.gameq.writer.flush;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.writer.flush.FlushPace.RowBudget;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RowBudgetTest {
  private static final int ROWS_PER_SECOND = 1_000;
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  @Test
  void takesAsManyRowsASecondAsItMayAlsoWhenOwnersAreLarge() {
    RowBudget budget = new RowBudget(ROWS_PER_SECOND, 0);
    long rows = 0;
    for (long now = 0; now < 60 * SECOND; now += SECOND / 1_000) {
      if (budget.waitNanos(now) == 0) {
        int claimed = budget.mostRows() + 37; // the last owner is flushed whole
        budget.reserve(budget.mostRows());
        budget.used(budget.mostRows(), claimed);
        rows += claimed;
      }
    }
    assertEquals(60.0 * ROWS_PER_SECOND, (double) rows, 0.01 * 60 * ROWS_PER_SECOND);
  }

  @Test
  void turnsAtATimeShareItAndWhatIsNotClaimedIsLeft() {
    RowBudget budget = new RowBudget(ROWS_PER_SECOND, 0);
    int turns = 0;
    while (budget.waitNanos(0) == 0) {
      budget.reserve(budget.mostRows());
      turns++;
    }
    assertEquals(2, turns, "a quarter of a second in two flushes");
    budget.used(budget.mostRows(), 0);
    assertEquals(0, budget.waitNanos(0));
  }

  @Test
  void whatWasNotUsedIsNotMadeUpFor() {
    RowBudget budget = new RowBudget(ROWS_PER_SECOND, 0);
    assertEquals(0, budget.waitNanos(3_600 * SECOND));
    budget.used(0, 300);
    long wait = budget.waitNanos(3_600 * SECOND);
    assertTrue(wait >= 50_000_000 && wait < 60_000_000, () -> wait + " ns");
    assertEquals(0, budget.waitNanos(3_600 * SECOND + wait));
  }

  @Test
  void withoutACeilingNothingWaits() {
    RowBudget budget = new RowBudget(0, 0);
    budget.used(0, 1_000_000);
    assertEquals(0, budget.waitNanos(0));
    assertEquals(Integer.MAX_VALUE, budget.mostRows());
  }
}

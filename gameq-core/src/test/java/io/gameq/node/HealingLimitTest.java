package io.gameq.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.node.MissingRows.HealingLimit;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HealingLimitTest {
  private long seconds = -1_000;
  private final HealingLimit heals = new HealingLimit(() -> TimeUnit.SECONDS.toNanos(seconds));

  private static SessionRef session(int id) {
    return new SessionRef(OwnerId.of("player:" + id), new SessionId(1, "0badcafe0000000" + id), 0);
  }

  /** In a day, asked every second. */
  private int healings(SessionRef session) {
    int due = 0;
    for (int i = 0; i < TimeUnit.DAYS.toSeconds(1); i++, seconds++) {
      due += heals.isDue(session) ? 1 : 0;
    }
    return due;
  }

  @Test
  void oneBrokenKeyHealsLessAndLessOften() {
    assertEquals(28, healings(session(1)));
    heals.isWell(session(1));
    assertEquals(28, healings(session(1)));
  }

  @Test
  void sessionsAreHealedForTogether() {
    int due = 0;
    for (int i = 0; i < 60; i++, seconds++) {
      for (int id = 1; id <= 9; id++) {
        due += heals.isDue(session(id)) ? 1 : 0;
      }
    }
    assertEquals(2, due);
  }
}

package io.gameq.writer.flush;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.owner.OwnerId;
import io.gameq.writer.flush.WriterStats.BusyOwners;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class BusyOwnersTest {
  private final AtomicLong nanos = new AtomicLong();
  private final BusyOwners busy = new BusyOwners(nanos::get);

  @Test
  void theBusiestOfTheLastMinuteAreNamed() {
    for (int i = 1; i <= 5; i++) {
      busy.wrote(OwnerId.of("player:" + i), i);
    }
    busy.wrote(OwnerId.of("player:1"), 10);
    assertEquals("", busy.lastMinute());
    pass(61);
    assertEquals("11 player:1\n5 player:5\n4 player:4", busy.lastMinute());
    pass(130);
    assertEquals("", busy.lastMinute());
  }

  @Test
  void aMinuteOfMoreOwnersThanAreCountedHoldsNoMore() {
    for (int i = 0; i < 2 * BusyOwners.MOST_COUNTED; i++) {
      busy.wrote(OwnerId.of("player:" + i), 1);
    }
    busy.wrote(OwnerId.of("player:7"), 2);
    busy.wrote(OwnerId.of("player:" + BusyOwners.MOST_COUNTED), 90);
    pass(61);
    assertEquals("3 player:7", busy.lastMinute().lines().findFirst().orElseThrow());
  }

  @Test
  void writersTogether() {
    assertEquals(
        "9 guild:a b\n8 player:1\n1 x",
        BusyOwners.together(List.of("5 player:1\n1 x", "9 guild:a b\n3 player:1", "", "nonsense")));
  }

  private void pass(int seconds) {
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
  }
}

package io.gameq.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RecentMessagesTest {
  private final AtomicLong nanos = new AtomicLong();
  private final RecentMessages recent = new RecentMessages(Duration.ofMinutes(10), nanos::get);

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  @Test
  void forgetsWhatIsOlderThanItIsToBeKept() {
    recent.appended(7);
    pass(Duration.ofMinutes(9));
    assertEquals(7, recent.keptFrom());
    pass(Duration.ofMinutes(2));
    assertEquals(Long.MAX_VALUE, recent.keptFrom());
  }

  @Test
  void growsNoOlderWhileRedisIsAway() {
    recent.appended(7);
    pass(Duration.ofMinutes(9));
    recent.away();
    pass(Duration.ofHours(3));
    recent.appended(8);
    assertEquals(7, recent.keptFrom());
    recent.healed();
    assertEquals(7, recent.keptFrom());
    assertEquals(1, recent.after(0).size());
    pass(Duration.ofMinutes(2));
    assertEquals(8, recent.keptFrom());
    pass(Duration.ofMinutes(10));
    assertEquals(Long.MAX_VALUE, recent.keptFrom());
  }
}

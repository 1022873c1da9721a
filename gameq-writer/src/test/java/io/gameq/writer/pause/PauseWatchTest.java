package io.gameq.writer.pause;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.MySqlException;
import io.gameq.agent.AgentRunner;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.mysql.PauseTable.WriterPause;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PauseWatchTest {
  private final AtomicInteger looks = new AtomicInteger();
  private volatile List<WriterPause> there = List.of();
  private volatile boolean isAway;

  private List<WriterPause> read() {
    looks.incrementAndGet();
    if (isAway) {
      throw new MySqlException("away", new IllegalStateException("away"));
    }
    return there;
  }

  private static WriterPause pause(Scope scope, String name) {
    return new WriterPause(scope, name, "why", "ann", Instant.EPOCH);
  }

  @Test
  void whatWasPausedStaysSoWhileMySqlIsAway() {
    there = List.of(pause(Scope.SLOT, "3"), pause(Scope.WRITER, "other"));
    PauseWatch watch = new PauseWatch(this::read, "w1");
    try (AgentRunner runner = new AgentRunner("pauses")) {
      runner.start(watch.duty());
      assertTrue(watch.isPaused(3));
      assertFalse(watch.isPaused(2), "another writer is");
      isAway = true;
      there = List.of();
      int before = looks.get();
      await().atMost(LONG).until(() -> looks.get() > before);
      assertTrue(watch.isPaused(3));
      isAway = false;
      await().atMost(LONG).until(() -> !watch.isPaused(3));
      there = List.of(pause(Scope.WRITER, "w1"));
      await().atMost(LONG).until(() -> watch.isPaused(2) && watch.ofThisWriter() != null);
    }
  }
}

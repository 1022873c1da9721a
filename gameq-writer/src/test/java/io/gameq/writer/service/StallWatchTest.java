package io.gameq.writer.service;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.GameDatabase;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StallWatchTest {
  private final AtomicLong flushes = new AtomicLong();
  private final AtomicBoolean waits = new AtomicBoolean(true);
  private final AtomicLong nanos = new AtomicLong();

  private void pass(long seconds) {
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
  }

  @Test
  void tellsThatNothingIsWrittenWhileRowsWaitAndWhatMySqlDoes() throws Exception {
    GameDatabase database = GameDatabase.create("stall");
    try (MySql mysql = MySqlPool.open(database.as(Role.WRITER).config(2), "stall")) {
      StallWatch watch = new StallWatch(flushes::get, waits::get, mysql, nanos::get);
      watch.look();
      pass(19);
      watch.look();
      assertEquals("", watch.problem());
      assertEquals(0, watch.seconds());
      Thread held =
          new Thread(
              () -> {
                int unused =
                    mysql.ask(h -> h.createQuery("SELECT SLEEP(5)").mapTo(int.class).one());
              });
      held.start(); // as a commit that a full disk holds up
      pass(2);
      await()
          .atMost(LONG)
          .until(
              () -> {
                watch.look();
                return watch.problem().contains("User sleep for");
              });
      assertTrue(watch.problem().startsWith("nothing is written for 21 s"), watch.problem());
      assertEquals(21, watch.seconds());
      held.join();
      watch.look();
      assertTrue(watch.problem().contains("nothing that this user waits for"), watch.problem());
      flushes.incrementAndGet();
      watch.look();
      assertEquals("", watch.problem());
    }
  }

  @Test
  void whereNothingWaitsNothingIsToldHoweverLongNothingWasWritten() throws Exception {
    GameDatabase database = GameDatabase.create("stall");
    try (MySql mysql = MySqlPool.open(database.as(Role.WRITER).config(1), "stall")) {
      StallWatch watch = new StallWatch(flushes::get, waits::get, mysql, nanos::get);
      waits.set(false);
      pass(3_600);
      watch.look();
      waits.set(true); // a backlog begins now
      pass(2);
      watch.look();
      assertEquals("", watch.problem());
      mysql.close();
      pass(30);
      watch.look();
      assertTrue(watch.problem().endsWith("MySQL does not say why"), watch.problem());
    }
  }
}

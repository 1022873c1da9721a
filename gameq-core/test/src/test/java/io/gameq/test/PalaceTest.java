package io.gameq.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.RedisFullException;
import io.gameq.TableName;
import io.gameq.test.GameQueueTest.ManagedTable;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the page of gameq-test shows. */
@GameQueueTest(
    schema = "contract.sql",
    tables = {
      @ManagedTable(name = "player", owner = "player", ownerColumn = "id"),
      @ManagedTable(name = "item", owner = "player", ownerColumn = "owner_id")
    })
class PalaceTest {
  record Finished(long palace) {}

  @TableName("player")
  record Player(long id, String name, int gold) {}

  @Test
  void paysTaxesAtFour(GameQueue queue, TestClock clock) {
    Topic<Finished> taxes = queue.topic("taxes", Finished.class);
    OwnerSession ann = queue.open("player:1");
    ann.put(new Player(1, "Ann", 100));
    ann.commit();

    taxes.subscribe(
        tax -> {
          ann.put(new Player(1, "Ann", 90));
          tax.ackWith(ann);
        });
    taxes.publish(Publish.of("taxes", new Finished(7)).cron("0 4 * * *", ZoneOffset.UTC));
    clock.to(LocalTime.of(4, 0)); // the handler has run when this returns

    assertEquals(List.of(new Player(1, "Ann", 90)), queue.read("player:1", Player.class));
  }

  @Test
  void tellsThePlayerThatRedisIsFull(GameQueue queue, MemoryFaults faults) {
    OwnerSession ann = queue.open("player:1");
    faults.redisIsFull();
    ann.put(new Player(1, "Ann", 100));

    assertThrows(RedisFullException.class, () -> ann.commit().awaitQueued(Duration.ZERO));
  }

  @Test
  void buildsAPalace(GameQueue queue, GameTime time) { // in memory and on servers
    OwnerSession ann = queue.open("player:1");
    Topic<Finished> palaces = queue.topic("palaces", Finished.class);
    palaces.subscribe(
        palace -> {
          ann.put(new Player(1, "Ann", 0));
          palace.ackWith(ann);
        });
    palaces.publish(Publish.of("7", new Finished(7)).after(Duration.ofMillis(500)));

    time.until(() -> !queue.read("player:1", Player.class).isEmpty());
  }
}

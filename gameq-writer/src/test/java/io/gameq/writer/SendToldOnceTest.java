package io.gameq.writer;

import static io.gameq.servers.Waits.LONG;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.servers.FaultProxy;
import io.gameq.servers.TestServers;
import io.gameq.servers.Trap;
import java.net.URI;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

class SendToldOnceTest extends RedisLossFixture {
  @Test
  void isNotToldAgainWhenRedisCouldNotBeToldSoThoughTheSessionHasDeletedTheRow() throws Exception {
    try (FaultProxy way = new FaultProxy(URI.create(TestServers.redisUri()).getPort());
        GameQueue one = game.node("n1");
        GameQueue two = GameQueue.open(behind(TestServers.redisUri(way.port()), "n2").build())) {
      OwnerSession holder = two.open("player:1");
      Queue<Pet> told = new ConcurrentLinkedQueue<>();
      holder.onSent(rows -> told.addAll(rows.rows(Pet.class)));
      assertEquals(List.of(), holder.current(Pet.class));
      Trap forgets = way.set(Trap.beforeRequest("HDEL", 0, () -> {}));
      one.send("player:1", new Pet(1, 1, "a")).awaitQueued(LONG);
      forgets.await();
      await().atMost(LONG).until(() -> !told.isEmpty());
      holder.delete(Pet.class, 1);
      holder.commit().awaitQueued(LONG);
      await()
          .atMost(LONG)
          .until(() -> redis.sync().keys("*" + game.namespace + "*:sent:*").isEmpty());
      assertEquals(List.of(new Pet(1, 1, "a")), List.copyOf(told));
      assertEquals(List.of(), holder.current(Pet.class));
    }
  }
}

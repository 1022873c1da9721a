package io.gameq.example;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import java.time.Duration;

/**
 * Gold for a player wherever that player is, from whoever gives it: a game master, a timer, a
 * market. It is a row of the player's, who takes it. Thread-safe.
 */
final class GiftShop {
  private final GameQueue queue;
  private final Topic<Harvest> harvests;

  /** What a field brings once it is ripe. */
  record Harvest(long playerId, long gold) {}

  GiftShop(GameQueue queue) {
    this.queue = queue;
    this.harvests = queue.topic("harvest", Harvest.class);
    // page: timer fires
    harvests.subscribe(
        delivery -> {
          Harvest ripe = delivery.payload();
          Rows.Gift gift = gift(ripe.playerId(), ripe.gold(), "harvest");
          delivery.ackWith(tx -> tx.send("player:" + ripe.playerId(), gift)); // once
        });
    // page: end
  }

  Rows.Gift gift(long playerId, long gold, String reason) {
    return new Rows.Gift(playerId, queue.ids("gift").next(), gold, reason);
  }

  /** A game master gives gold. Returns at once. */
  CommitReceipt give(long playerId, long gold, String reason) {
    // page: game master
    return queue.send("player:" + playerId, gift(playerId, gold, reason));
    // page: end
  }

  /** Sows: what it costs and the timer are one commit. Returns at once. */
  CommitReceipt sow(OnlinePlayer player, int field, long price, Duration ripens) {
    // page: timer
    Rows.Player poorer = player.row().plus(-price);
    String key = poorer.playerId() + "/" + field;
    CommitReceipt receipt =
        queue.transact(
            player.session(),
            tx -> {
              tx.put(poorer);
              Harvest harvest = new Harvest(poorer.playerId(), 2 * price);
              tx.publish(harvests, Publish.of(key, harvest).after(ripens));
            });
    // page: end
    player.become(poorer);
    return receipt;
  }
}

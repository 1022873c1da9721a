package io.gameq.example;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import java.time.Duration;

/**
 * Gold for a player wherever that player is, from whoever gives it: a game master, a timer, a
 * market. Thread-safe.
 */
final class Payouts {
  private final GameQueue queue;
  private final Topic<Payout> topic;

  /** What a player is given, and why. */
  record Payout(long gold, String reason) {}

  Payouts(GameQueue queue) {
    this.queue = queue;
    topic = queue.topic("payout", Payout.class, TopicOptions.DEFAULT.ofOwners());
    topic.subscribeOwners( // for players who are offline
        (player, payout, changes) -> {
          Rows.Player row =
              player.rows(Rows.Player.class).stream()
                  .findFirst() // else it is tried again, and is a dead letter in the end
                  .orElseThrow(() -> new IllegalStateException("no such player"));
          changes.put(row.plus(payout.payload().gold()));
        });
  }

  Topic<Payout> topic() {
    return topic;
  }

  /** What pays a player; of one key one is pending. */
  static Publish<Payout> of(long playerId, String key, long gold, String reason) {
    return Publish.of(key, new Payout(gold, reason)).owner("player:" + playerId);
  }

  /**
   * A game master gives gold. Returns at once.
   *
   * @param ticket names it: the same ticket pays once while it is pending
   */
  CommitReceipt give(long playerId, String ticket, long gold) {
    return topic.publish(of(playerId, "ticket/" + ticket, gold, "sorry"));
  }

  /** Sows: what it costs and the timer are one commit. Returns at once. */
  CommitReceipt sow(OnlinePlayer player, int field, long price, Duration ripens) {
    Rows.Player poorer = player.row().plus(-price);
    CommitReceipt receipt =
        queue.transact(
            player.session(),
            tx -> {
              tx.put(poorer);
              tx.publish(
                  topic,
                  of(poorer.playerId(), "field/" + field, 2 * price, "harvest").after(ripens));
            });
    player.become(poorer);
    return receipt;
  }
}

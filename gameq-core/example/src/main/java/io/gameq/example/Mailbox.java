package io.gameq.example;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import java.time.Instant;

/**
 * Mail to any player: offline, here, or on another node. A letter is a row of the player who gets
 * it, and is sent whoever has that player.
 */
final class Mailbox {
  private final GameQueue queue;

  Mailbox(GameQueue queue) {
    this.queue = queue;
  }

  /** Sends a letter, and takes what it costs, in one commit. Returns at once. */
  CommitReceipt send(OnlinePlayer from, long toPlayerId, String text, long postage) {
    // page: mail
    Rows.Mail mail =
        new Rows.Mail(toPlayerId, queue.ids("mail").next(), from.row().name(), text, Instant.now());
    Rows.Player poorer = from.row().plus(-postage);
    CommitReceipt receipt =
        queue.transact(
            from.session(),
            changes -> {
              changes.send("player:" + toPlayerId, mail);
              changes.put(poorer);
            });
    // page: end
    from.become(poorer);
    return receipt;
  }
}

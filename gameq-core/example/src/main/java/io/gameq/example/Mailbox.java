package io.gameq.example;

import io.gameq.GameQueue;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Mail to any player: offline, here, or on another node. A mailbox is an owner of its own, which
 * nobody holds for long, so that the player to whom it belongs need not be asked.
 */
final class Mailbox {
  private final GameQueue queue;
  private final SharedOwners owners;

  Mailbox(GameQueue queue) {
    this.queue = queue;
    this.owners = new SharedOwners(queue);
  }

  /** Sends a letter, and takes what it costs, in one commit; every node sees both then. */
  void send(OnlinePlayer from, long toPlayerId, String text, long postage) {
    Rows.Mail mail =
        new Rows.Mail(
            toPlayerId,
            ThreadLocalRandom.current().nextLong(Long.MAX_VALUE), // a key that nobody else makes
            from.row().name(),
            text,
            Instant.now().truncatedTo(ChronoUnit.MILLIS)); // as exact as its column
    owners.change(
        "mailbox:" + toPlayerId,
        (mailbox, changes) -> changes.put(mail),
        from,
        from.row().plus(-postage));
  }

  /** A player's mail, oldest first, from whichever node it came. */
  List<Rows.Mail> read(long playerId) {
    return queue.read("mailbox:" + playerId, Rows.Mail.class).stream()
        .sorted(Comparator.comparing(Rows.Mail::sentAt))
        .toList();
  }
}

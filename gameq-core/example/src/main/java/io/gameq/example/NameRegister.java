package io.gameq.example;

import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * Names that no two players have: each name is an owner, whose row says whose it is. Waits for
 * servers: not for the thread of the game loop.
 */
final class NameRegister {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** Nodes that want one name at the same moment take turns. */
  private static final int ATTEMPTS = 10;

  private final GameQueue queue;

  NameRegister(GameQueue queue) {
    this.queue = queue;
  }

  /** Renames a player and gives the old name free, in one commit; returns false if it is taken. */
  boolean rename(OnlinePlayer player, String name) {
    Rows.Player renamed = player.row().named(name);
    String wanted = name.toLowerCase(Locale.ROOT);
    String before = player.row().name().toLowerCase(Locale.ROOT);
    if (wanted.equals(before)) {
      throw new IllegalArgumentException("it is the player's name by now");
    }
    for (int attempt = 1; ; attempt++) {
      try (OwnerSession taken = queue.open("name:" + wanted);
          OwnerSession left = queue.open("name:" + before)) {
        if (!taken.rows(Rows.PlayerName.class).isEmpty()) {
          return false;
        }
        queue
            .transact(
                List.of(player.session(), taken, left),
                changes -> {
                  changes.put(new Rows.PlayerName(wanted, renamed.playerId()));
                  changes.delete(Rows.PlayerName.class, before);
                  changes.put(renamed);
                })
            .awaitQueued(PATIENCE);
        player.become(renamed);
        return true;
      } catch (OwnershipLostException e) {
        // Another node wants one of these names: once more, from what they are now.
        if (attempt == ATTEMPTS || !e.owner().startsWith("name:")) {
          throw e;
        }
      }
    }
  }
}

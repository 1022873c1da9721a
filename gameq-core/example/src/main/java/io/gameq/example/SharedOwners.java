package io.gameq.example;

import io.gameq.ChangeSet;
import io.gameq.GameQueue;
import io.gameq.OwnerSession;
import io.gameq.OwnershipLostException;
import java.time.Duration;
import java.util.function.BiConsumer;

/**
 * Changes owners that no node holds for long, as guilds, together with a player of this node. Waits
 * for servers: not for the thread of the game loop.
 */
final class SharedOwners {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** Nodes that change one guild at the same moment take turns; it takes no more than a few. */
  private static final int ATTEMPTS = 10;

  private final GameQueue queue;

  SharedOwners(GameQueue queue) {
    this.queue = queue;
  }

  /**
   * Commits changes of the owner, and the player's new row, as one. When it throws, nothing of it
   * was applied, but where the time was up: then log the player in anew.
   *
   * @param owner such as {@code guild:7}
   * @param stage puts the owner's rows into the change set
   */
  void change(
      String owner,
      BiConsumer<OwnerSession, ChangeSet> stage,
      OnlinePlayer player,
      Rows.Player row) {
    for (int attempt = 1; ; attempt++) {
      try (OwnerSession session = queue.open(owner)) {
        queue
            .transact(
                session,
                player.session(),
                changes -> {
                  stage.accept(session, changes);
                  changes.put(row);
                })
            .awaitQueued(PATIENCE);
        player.become(row);
        return;
      } catch (OwnershipLostException e) {
        // Another node opened the owner before this commit: once more, from its rows of now.
        if (attempt == ATTEMPTS || !e.owner().equals(owner)) {
          throw e;
        }
      }
    }
  }
}

package io.gameq.node;

import io.gameq.SentRows;
import io.gameq.durability.SentToSession;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Rows that others sent to a session's owner, on their way to the game. Thread-safe. */
final class SentToGame {
  private final NodeQueue queue;
  private final List<EncodedRow> waiting = new ArrayList<>();
  private @Nullable Consumer<SentRows> listener;

  SentToGame(NodeQueue queue) {
    this.queue = queue;
  }

  /** The game wants to be told from now on, and of those that wait. */
  synchronized void to(Consumer<SentRows> game) {
    listener = game;
    tell();
  }

  /** Rows came; when nobody wants to be told, the oldest are forgotten. */
  synchronized void came(List<EncodedRow> rows) {
    waiting.addAll(rows);
    waiting.subList(0, Math.max(0, waiting.size() - SentToSession.MOST_WAITING)).clear();
    tell();
  }

  private void tell() {
    Consumer<SentRows> game = listener;
    if (game != null && !waiting.isEmpty()) {
      SentRows rows = new RowsSent(queue.rows(), waiting);
      waiting.clear();
      queue.execute(() -> game.accept(rows));
    }
  }
}

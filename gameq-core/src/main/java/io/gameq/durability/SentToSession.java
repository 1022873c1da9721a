package io.gameq.durability;

import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Rows that others sent to a session's owner, until somebody takes them. Thread-safe.
 *
 * <p>Who takes them is called by one thread at a time, in order, on a thread of gameq.
 */
public final class SentToSession {
  /** Beyond, the oldest are forgotten: they are rows, and not lost. */
  static final int MOST_WAITING = 1_000;

  private final List<EncodedRow> waiting = new ArrayList<>();
  private @Nullable Consumer<List<EncodedRow>> taker;

  /** Rows came. */
  public synchronized void came(List<EncodedRow> rows) {
    waiting.addAll(rows);
    hand();
  }

  /** Those that wait, and all that come, go there. */
  public synchronized void takenBy(Consumer<List<EncodedRow>> who) {
    taker = who;
    hand();
  }

  private void hand() {
    if (taker == null) {
      waiting.subList(0, Math.max(0, waiting.size() - MOST_WAITING)).clear();
    } else if (!waiting.isEmpty()) {
      List<EncodedRow> rows = List.copyOf(waiting);
      waiting.clear();
      taker.accept(rows);
    }
  }
}

package io.gameq.writer.bench;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueConfig;
import io.gameq.OwnerSession;
import io.gameq.writer.bench.workload.Actions;
import io.gameq.writer.bench.workload.BenchRow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A game node of a benchmark: its players stay logged in. A player is used by one thread at a time.
 */
final class BenchGame implements AutoCloseable {
  private static final String OWNER_KIND = "player";

  private final GameQueue queue;
  private final AtomicReferenceArray<@Nullable OwnerSession> sessions;

  BenchGame(GameQueueConfig config, int players) {
    queue = GameQueue.open(config);
    sessions = new AtomicReferenceArray<>(players);
  }

  /** Logs players {@code 0} to {@code players - 1} in, with some threads. */
  void login(int players, int threads) throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    Threads.run(
        threads,
        "login",
        thread -> {
          for (int player; (player = next.getAndIncrement()) < players; ) {
            session(player);
          }
        });
  }

  private OwnerSession session(int player) {
    OwnerSession session = sessions.get(player);
    if (session == null) {
      session = queue.open(OWNER_KIND + ":" + player);
      session.forgetLoaded();
      sessions.set(player, session);
    }
    return session;
  }

  /** Does an action: stages its rows and commits them; returns at once. */
  CommitReceipt act(Actions action) {
    OwnerSession session = session((int) action.player());
    for (int i = 0; i < action.rows(); i++) {
      if (action.isDelete(i)) {
        session.delete(BenchRow.class, action.player(), action.slot(i));
      } else {
        session.put(action.row(i));
      }
    }
    return session.commit();
  }

  /** Logs a player out, and in again at once: what a hand-over between nodes costs. */
  void handOver(long player) {
    OwnerSession session = sessions.getAndSet((int) player, null);
    if (session != null) {
      session.close();
    }
    session((int) player);
  }

  GameQueue queue() {
    return queue;
  }

  @Override
  public void close() {
    queue.close();
  }
}

package io.gameq.lab.bench;

import io.gameq.CommitReceipt;
import io.gameq.lab.load.Threads;
import io.gameq.lab.workload.Fill;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/** Commits all rows of a fill and waits until Redis has them. One thread, and the game's. */
final class Filling {
  private static final Duration ANSWER = Duration.ofSeconds(60);

  private final BenchWorld world;
  private final Fill fill;

  Filling(BenchWorld world, Fill fill) {
    this.world = world;
    this.fill = fill;
  }

  /** Writes every row once; returns rows per second. */
  double run(long pass) throws InterruptedException {
    int threads = world.options().shape().threads();
    long began = System.nanoTime();
    Threads.run(
        threads,
        "game",
        thread -> {
          Deque<CommitReceipt> waiting = new ArrayDeque<>();
          for (int player = thread; player < fill.players(); player += threads) {
            waiting.addAll(world.node().write(fill, player, pass));
            while (waiting.size() > world.options().inFlight()) {
              waiting.remove().awaitQueued(ANSWER);
            }
          }
          waiting.forEach(receipt -> receipt.awaitQueued(ANSWER));
        });
    return fill.rows() / ((System.nanoTime() - began) / 1e9);
  }
}

package io.gameq.lab.compare;

import io.gameq.lab.load.Acknowledgement;
import io.gameq.lab.load.GameThreads;
import io.gameq.lab.mysql.StoredRows;
import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.Workload;

/**
 * Game threads that note the last action of each row, so that what MySQL must hold is known the
 * moment that a load ends: to repeat its actions would take the processors that a writer needs
 * then. Each thread has rows of its own; {@link #sum} is asked after their end.
 */
final class PerformedRows implements GameThreads {
  private final GameThreads games;
  private final int rowsPerPlayer;
  private final long[] last;

  PerformedRows(GameThreads games, Workload.Shape shape) {
    this.games = games;
    this.rowsPerPlayer = shape.rowsPerPlayer();
    this.last = new long[Math.multiplyExact(shape.players(), rowsPerPlayer)];
  }

  @Override
  public GameThread gameThread(int thread) throws Exception {
    GameThread game = games.gameThread(thread);
    return new GameThread() {
      @Override
      public Acknowledgement perform(Actions action) throws Exception {
        int first = (int) action.player() * rowsPerPlayer;
        for (int i = 0; i < action.rows(); i++) {
          last[first + action.slot(i)] = action.seq();
        }
        return game.perform(action);
      }

      @Override
      public void close() throws Exception {
        game.close();
      }
    };
  }

  /** What MySQL must come to. */
  StoredRows.Sum sum() {
    long rows = 0;
    long seqs = 0;
    for (long seq : last) {
      rows += seq > 0 ? 1 : 0;
      seqs += seq;
    }
    return new StoredRows.Sum(rows, seqs);
  }
}

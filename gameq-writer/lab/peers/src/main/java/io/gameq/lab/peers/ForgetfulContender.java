package io.gameq.lab.peers;

import io.gameq.lab.bench.workload.Actions;
import io.gameq.lab.bench.workload.BenchRow;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Acknowledges everything, drops one action in a hundred and one row of another: the table must
 * show that it loses and tears. Not measured unless asked for.
 */
final class ForgetfulContender implements Contender {
  private static final long EVERY = 100;

  private final PeerTable table;

  ForgetfulContender(Job job) throws SQLException {
    this.table = new PeerTable(job.place(), job.shape().threads());
  }

  @Override
  public GameThread gameThread(int thread) {
    return new GameThread() {
      @Override
      public CompletableFuture<Void> perform(Actions action) {
        List<BenchRow> rows = RowBytes.rows(action);
        long turn = action.seq() % EVERY;
        if (turn != 0) {
          table.upsertAll(turn == 1 ? rows.subList(0, 1) : rows);
        }
        return DONE;
      }
    };
  }

  @Override
  public void flush() {}

  @Override
  public long rowsWritten() {
    return table.rowsWritten();
  }

  @Override
  public void close() {
    table.close();
  }
}

package io.gameq.lab.contender.mysql;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.RowBytes;
import io.gameq.lab.load.Acknowledgement;
import io.gameq.lab.load.Contender;
import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.BenchRow;
import java.util.List;

/**
 * Acknowledges everything, drops one action in ten and one row of another: the table must show that
 * it loses and tears. Not measured unless asked for.
 */
final class ForgetfulContender implements Contender {
  private static final long EVERY = 10;

  private final PeerTable table;

  ForgetfulContender(ContenderSetup setup) {
    this.table = new PeerTable(setup.place(), setup.shape().threads());
  }

  @Override
  public GameThread gameThread(int thread) {
    return new GameThread() {
      @Override
      public Acknowledgement perform(Actions action) {
        List<BenchRow> rows = RowBytes.rows(action);
        long turn = action.seq() % EVERY;
        if (turn != 0) {
          table.upsertAll(turn == 1 ? rows.subList(0, 1) : rows);
        }
        return Acknowledgement.DONE;
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

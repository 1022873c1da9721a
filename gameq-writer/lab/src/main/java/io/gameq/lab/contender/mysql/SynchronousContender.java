package io.gameq.lab.contender.mysql;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.RowBytes;
import io.gameq.lab.load.Acknowledgement;
import io.gameq.lab.load.Contender;
import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.BenchRow;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** No queue: the game thread writes its rows to MySQL and waits. */
final class SynchronousContender implements Contender {
  private final PeerTable table;
  private final boolean oneStatement;

  /**
   * Connects.
   *
   * @param oneStatement one multi-row upsert, else a transaction of single ones
   */
  SynchronousContender(ContenderSetup setup, boolean oneStatement) {
    this.table = new PeerTable(setup.place(), setup.shape().threads());
    this.oneStatement = oneStatement;
  }

  @Override
  public GameThread gameThread(int thread) throws SQLException {
    Connection connection = table.connection();
    connection.setAutoCommit(oneStatement);
    return new GameThread() {
      @Override
      public Acknowledgement perform(Actions action) throws SQLException {
        List<BenchRow> rows = RowBytes.rows(action);
        if (oneStatement) {
          table.upsert(connection, rows);
        } else {
          for (int i = 0; i < rows.size(); i++) {
            table.upsert(connection, rows.subList(i, i + 1));
          }
          connection.commit();
        }
        return Acknowledgement.DONE;
      }

      @Override
      public void close() throws SQLException {
        connection.close();
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

package io.gameq.lab.contender.mysql;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.RowBytes;
import io.gameq.lab.load.Acknowledgement;
import io.gameq.lab.load.Contender;
import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.BenchRow;
import io.gameq.lab.workload.Workload;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.CatalogReader;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * The limit of MySQL under a load that goes on: each game thread gathers rows and writes them
 * itself, in {@link GuardedTransactions} that are always full. Nothing keeps what was gathered.
 */
final class BatchingContender implements Contender {
  private final MySql pool;
  private final GuardedTransactions writing;
  private final LongAdder written = new LongAdder();

  BatchingContender(ContenderSetup setup) {
    pool = MySqlPool.open(setup.place().mysql(setup.shape().threads() + 1), "limit");
    writing = new GuardedTransactions(pool, CatalogReader.read(pool).table(Workload.TABLE));
  }

  @Override
  public GameThread gameThread(int thread) throws SQLException {
    Connection connection = pool.connection();
    GuardedTransactions.prepare(connection);
    return new GameThread() {
      /** Sorted, as gameq sorts them: by key. */
      private final Map<Long, BenchRow> gathered = new TreeMap<>();

      @Override
      public Acknowledgement perform(Actions action) throws SQLException {
        for (int i = 0; i < action.rows(); i++) {
          gathered.put(RowBytes.key(action.player(), action.slot(i)), action.row(i));
        }
        if (gathered.size() >= GuardedTransactions.ROWS) {
          write();
        }
        return Acknowledgement.DONE;
      }

      private void write() throws SQLException {
        writing.write(connection, gathered.values().stream().map(writing::change).toList());
        written.add(gathered.size());
        gathered.clear();
      }

      @Override
      public void close() throws SQLException {
        try (connection) {
          write();
        }
      }
    };
  }

  @Override
  public void flush() {}

  @Override
  public long rowsWritten() {
    return written.sum();
  }

  @Override
  public void close() {
    pool.close();
  }
}

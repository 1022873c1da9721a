package io.gameq.lab.contender.mysql;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.load.Acknowledgement;
import io.gameq.lab.load.Contender;
import io.gameq.lab.load.Threads;
import io.gameq.lab.workload.Model;
import io.gameq.lab.workload.Workload;
import io.gameq.mysql.Dialect;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.UpsertSql;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.owner.OwnerId;
import io.gameq.rows.RowImage;
import io.gameq.rows.RowKey;
import io.gameq.rows.RowOp;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The limit of MySQL: the rows that must be there in the end, ready in memory and sorted, with
 * gameq's own statement, a commit for each. Actions do nothing; {@link #flush} writes. One thread.
 */
public final class RawMySql implements Contender {
  private static final int ROWS_PER_STATEMENT = 512;

  /** To read the catalogue. */
  private static final int MORE_CONNECTIONS = 1;

  private final MySql mysql;
  private final Table table;
  private final int connections;
  private final AutoCloseable closing;
  private final List<RowChange> rows = new ArrayList<>();
  private long written;

  /**
   * Writes a table.
   *
   * @param connections that write at the same time, each a part of the rows
   * @param closing what closes with it
   */
  public RawMySql(MySql mysql, Table table, int connections, AutoCloseable closing) {
    this.mysql = mysql;
    this.table = table;
    this.connections = connections;
    this.closing = closing;
  }

  static RawMySql open(ContenderSetup setup) {
    int workers = setup.tuning().workers();
    MySql pool = MySqlPool.open(setup.place().mysql(workers + MORE_CONNECTIONS), "limit");
    return new RawMySql(pool, CatalogReader.read(pool).table(Workload.TABLE), workers, pool);
  }

  @Override
  public void prepare(Workload workload, long actionsPerThread) {
    prepare(Model.afterActions(workload, actionsPerThread));
  }

  /** Takes the rows of a model. */
  public void prepare(Model model) {
    rows.clear();
    OwnerId nobody = OwnerId.of("player:0");
    model.forEachRow(
        row -> {
          Object[] values = {row.playerId(), (long) row.slot(), row.seq(), row.payload()};
          rows.add(
              new RowChange(
                  nobody,
                  RowKey.of(table, values),
                  new RowImage(table, RowOp.PUT, row.seq(), values),
                  new byte[0]));
        });
  }

  @Override
  public GameThread gameThread(int thread) {
    return action -> Acknowledgement.DONE;
  }

  @Override
  public void flush() throws InterruptedException {
    Threads.run(connections, "raw", this::write);
    written += rows.size();
  }

  private void write(int part) throws SQLException {
    UpsertSql upserts = new UpsertSql(Dialect.of(mysql));
    int from = (int) ((long) rows.size() * part / connections);
    int end = (int) ((long) rows.size() * (part + 1) / connections);
    try (Connection connection = mysql.connection()) {
      for (; from < end; from += ROWS_PER_STATEMENT) {
        upserts.execute(
            connection, table, rows.subList(from, Math.min(end, from + ROWS_PER_STATEMENT)));
      }
    }
  }

  @Override
  public long rowsWritten() {
    return written;
  }

  @Override
  public void close() throws Exception {
    closing.close();
  }
}

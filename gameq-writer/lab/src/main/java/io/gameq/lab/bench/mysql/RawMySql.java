package io.gameq.lab.bench.mysql;

import io.gameq.lab.bench.workload.Model;
import io.gameq.mysql.Dialect;
import io.gameq.mysql.MySql;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.UpsertSql;
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
 * gameq's own statement, a commit for each. One thread calls it.
 */
public final class RawMySql {
  private static final int ROWS_PER_STATEMENT = 512;

  private final MySql mysql;
  private final Table table;
  private final List<RowChange> rows = new ArrayList<>();

  /** Takes the rows of a model. */
  public RawMySql(MySql mysql, Table table, Model model) {
    this.mysql = mysql;
    this.table = table;
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

  /** Writes part {@code part} of {@code parts}; each on a thread of its own. */
  public void write(int part, int parts) throws SQLException {
    UpsertSql upserts = new UpsertSql(Dialect.of(mysql));
    int from = (int) ((long) rows.size() * part / parts);
    int end = (int) ((long) rows.size() * (part + 1) / parts);
    try (Connection connection = mysql.connection()) {
      for (; from < end; from += ROWS_PER_STATEMENT) {
        upserts.execute(
            connection, table, rows.subList(from, Math.min(end, from + ROWS_PER_STATEMENT)));
      }
    }
  }

  public int rows() {
    return rows.size();
  }
}

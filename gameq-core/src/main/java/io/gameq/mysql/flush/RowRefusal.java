package io.gameq.mysql.flush;

import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.ErrorKind.RowChange;
import io.gameq.mysql.MySqlPool.MySqlText;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.rows.HandledRow.RowKey;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** A row that MySQL refused inside a transaction that goes on without it. */
public record RowRefusal(RowChange row, SQLException error) {
  /** Whether another flush can make MySQL take the row. */
  public boolean isCurable() {
    return ErrorKind.of(error) != ErrorKind.ROW;
  }

  /** The row as a dead letter; {@code attempts} is how often it was tried. */
  public DeadLetterTable.Refused asLetter(int attempts) {
    return new DeadLetterTable.Refused(
        row.owner().base(),
        row.key().table().name(),
        row.key().keyText(),
        row.image().version(),
        row.encoded(),
        attempts,
        error.getErrorCode(),
        MySqlText.of(error));
  }

  /** Rows of which MySQL holds a newer version, or a newer delete, have nothing to be set aside. */
  public static List<RowRefusal> withoutOutdated(Connection connection, List<RowRefusal> refusals)
      throws SQLException {
    if (refusals.isEmpty()) {
      return refusals;
    }
    Map<RowKey, Long> there =
        OwnerReader.versions(connection, refusals.stream().map(r -> r.row().key()).toList());
    return refusals.stream()
        .filter(r -> there.getOrDefault(r.row().key(), -1L) < r.row().image().version())
        .toList();
  }
}

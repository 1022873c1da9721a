package io.gameq.mysql.tables;

import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.mysql.tables.TombstoneTable.RowVersions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader.Handover;
import io.gameq.rows.Table;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What sessions know of handovers that are not settled, in {@code gameq_handover}. Stateless. */
public final class HandoverTable {
  private static final int MOST_KEYS_PER_STATEMENT = 256;

  private HandoverTable() {}

  /** One side of a handover, and the session that knows of it. */
  public record Known(OwnerId owner, long version, boolean received, SessionId session) {}

  /**
   * Notes what a session knows of a row's handovers, within a transaction that has locked the owner
   * and found the session to be its newest.
   */
  public static void write(Connection connection, SessionId session, RowChange row)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "INSERT INTO gameq_handover (table_name, row_key, owner, version, received, epoch,"
                + " nonce, noted_at) VALUES (?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(3)) ON DUPLICATE"
                + " KEY UPDATE received = VALUES(received), epoch = VALUES(epoch), nonce ="
                + " VALUES(nonce), noted_at = VALUES(noted_at)")) {
      for (Handover handover : row.image().handovers()) {
        if (handover.version() != 0) {
          statement.setString(1, row.key().table().name());
          statement.setString(2, row.key().keyText());
          statement.setString(3, row.owner().encoded());
          statement.setLong(4, handover.version());
          statement.setBoolean(5, handover.received());
          statement.setLong(6, session.epoch());
          statement.setString(7, session.nonce());
          statement.executeUpdate();
        }
      }
    }
  }

  /** All that is known of the handovers of rows; rows of which nothing is are missing. */
  public static Map<RowKey, List<Known>> read(
      Connection connection, Table table, Collection<RowKey> keys) throws SQLException {
    Map<RowKey, List<Known>> found = new HashMap<>();
    RowVersions.read(
        connection,
        "SELECT row_key, version, owner, received, epoch, nonce FROM gameq_handover",
        table,
        keys,
        "",
        (key, version, rs) ->
            found
                .computeIfAbsent(key, k -> new ArrayList<>())
                .add(
                    new Known(
                        OwnerId.ofEncoded(rs.getString(3)),
                        version,
                        rs.getBoolean(4),
                        new SessionId(rs.getLong(5), rs.getString(6)))));
    return found;
  }

  /** Forgets what was noted of rows that are written now. */
  public static void remove(Connection connection, Table table, Collection<RowKey> keys)
      throws SQLException {
    List<String> sorted = keys.stream().map(RowKey::keyText).sorted().toList();
    for (List<String> chunk : Sql.chunks(sorted, MOST_KEYS_PER_STATEMENT)) {
      List<Object> arguments = new ArrayList<>(List.of(table.name()));
      arguments.addAll(Sql.padded(chunk));
      int unused =
          Sql.execute(
              connection,
              "DELETE FROM gameq_handover WHERE table_name = ? AND row_key IN ("
                  + Sql.marks(arguments.size() - 1)
                  + ")",
              arguments.toArray());
    }
  }
}

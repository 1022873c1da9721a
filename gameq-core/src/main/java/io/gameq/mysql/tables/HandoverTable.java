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
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** What sessions know of handovers that are not settled, in {@code gameq_handover}. Stateless. */
public final class HandoverTable {
  private static final int MOST_KEYS_PER_STATEMENT = 256;

  private HandoverTable() {}

  /** One side of a handover, and the session that knows of it. */
  public record NotedHandover(OwnerId owner, long version, boolean received, SessionId session) {}

  /**
   * Notes what a session knows of a row's handovers, within a transaction that has locked the owner
   * and found the session to be its newest.
   */
  public static void write(Connection connection, SessionId session, RowChange row)
      throws SQLException {
    for (Handover handover : row.image().handovers()) {
      if (handover.version() != 0) {
        Sql.execute(
            connection,
            "INSERT INTO gameq_handover (table_name, row_key, owner, version, received, epoch,"
                + " nonce, noted_at) VALUES (?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(3)) ON DUPLICATE"
                + " KEY UPDATE received = VALUES(received), epoch = VALUES(epoch), nonce ="
                + " VALUES(nonce), noted_at = VALUES(noted_at)",
            row.key().table().name(),
            row.key().keyText(),
            row.owner().encoded(),
            handover.version(),
            handover.received(),
            session.epoch(),
            session.nonce());
      }
    }
  }

  /** All that is known of the handovers of rows; rows of which nothing is are missing. */
  public static Map<RowKey, List<NotedHandover>> read(
      Connection connection, Collection<RowKey> keys) throws SQLException {
    Map<RowKey, List<NotedHandover>> found = new HashMap<>();
    RowVersions.read(
        connection,
        "SELECT row_key, version, owner, received, epoch, nonce FROM gameq_handover",
        keys,
        "",
        (key, version, rs) ->
            found
                .computeIfAbsent(key, k -> new ArrayList<>())
                .add(
                    new NotedHandover(
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
      List<String> some = Sql.padded(chunk);
      Sql.execute(
          connection,
          "DELETE FROM gameq_handover WHERE table_name = ? AND row_key IN (%s)"
              .formatted(Sql.marks(some.size())),
          Stream.concat(Stream.of(table.name()), some.stream()).toArray());
    }
  }
}

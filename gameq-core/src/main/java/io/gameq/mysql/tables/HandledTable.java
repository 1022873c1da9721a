package io.gameq.mysql.tables;

import io.gameq.mysql.RowChange;
import io.gameq.mysql.Sql;
import io.gameq.rows.HandledRow;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which handler's rows count of each message, in {@code gameq_handled}. Stateless.
 *
 * <p>Decided by the primary key: of two transactions that add a row of one message the second waits
 * for the first to end, and then finds its token.
 */
public final class HandledTable {
  private static final int ROWS_PER_STATEMENT = 256;

  /** What names a message: the key of {@link HandledRow} without its last part, the token. */
  private static final int NAME_PARTS = 4;

  private HandledTable() {}

  /**
   * Adds rows of messages that have none; of two of one message the older commit's. To be done
   * before any row that was committed with them is written.
   *
   * @param rows of {@link HandledRow}
   * @return those of messages of which another handler's rows count
   */
  public static List<RowChange> write(Connection connection, List<RowChange> rows)
      throws SQLException {
    List<RowChange> sorted = new ArrayList<>(rows); // so that no two transactions wait in a circle
    sorted.sort(
        Comparator.comparing((RowChange row) -> HandledRow.handling(row.key().text()))
            .thenComparing((a, b) -> Long.compareUnsigned(version(a), version(b))));
    for (List<RowChange> some : Sql.chunks(sorted, ROWS_PER_STATEMENT)) {
      Sql.execute(
          connection,
          "INSERT INTO gameq_handled (topic, id, version, occurrence, token, gq_version,"
              + " handled_at) VALUES "
              + Sql.rows("(?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(3))", some.size())
              + " ON DUPLICATE KEY UPDATE token = token",
          some.stream()
              .flatMap(row -> Stream.concat(key(row).stream(), Stream.of(version(row))))
              .toArray());
    }
    return ofOthers(connection, sorted);
  }

  private static long version(RowChange row) {
    return row.image().version();
  }

  private static List<String> key(RowChange row) {
    return Arrays.stream(row.key().parts()).map(Object::toString).toList();
  }

  private static List<String> message(RowChange row) {
    return key(row).subList(0, NAME_PARTS);
  }

  /** Those of messages of which another handler's rows count, as it was decided until now. */
  public static List<RowChange> ofOthers(Connection connection, List<RowChange> rows)
      throws SQLException {
    return those(connection, rows, (own, counts) -> counts != null && !counts.equals(own));
  }

  /** Those of messages of which no handler's rows count so far. */
  static List<RowChange> ofNobody(Connection connection, List<RowChange> rows) throws SQLException {
    return those(connection, rows, (own, counts) -> counts == null);
  }

  private static List<RowChange> those(
      Connection connection, List<RowChange> rows, BiPredicate<String, @Nullable String> tokens)
      throws SQLException {
    Map<List<String>, String> counting = new HashMap<>();
    for (List<RowChange> chunk : Sql.chunks(rows, ROWS_PER_STATEMENT)) {
      List<RowChange> some = Sql.padded(chunk);
      Sql.select(
          connection,
          "SELECT topic, id, version, occurrence, token FROM gameq_handled WHERE "
              + Sql.anyOf("topic = ? AND id = ? AND version = ? AND occurrence = ?", some.size())
              + " LOCK IN SHARE MODE",
          rs ->
              counting.put(
                  List.of(rs.getString(1), rs.getString(2), rs.getString(3), rs.getString(4)),
                  rs.getString(5)),
          some.stream().flatMap(row -> message(row).stream()).toArray());
    }
    return rows.stream()
        .filter(row -> tokens.test(key(row).get(NAME_PARTS), counting.get(message(row))))
        .toList();
  }
}

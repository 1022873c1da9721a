package io.gameq.writer.mysql;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.Sql;
import io.gameq.owner.OwnerId;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What gameq's own tables in MySQL hold of an owner, but for values of rows. Stateless. */
public final class OwnerRecords {
  private static final Map<String, String> TABLES =
      Map.of(
          "sessions",
          "SELECT epoch, nonce, node, state, opened_at AS openedAt, adopted_version AS"
              + " adoptedVersion FROM gameq_owner WHERE owner = ?",
          "tombstones",
          "SELECT table_name AS `table`, row_key AS `key`, version, deleted_at AS deletedAt FROM"
              + " gameq_tombstone WHERE owner = ? ORDER BY table_name, row_key",
          "discards",
          "SELECT table_name AS `table`, row_key AS `key`, session, version, discarded_at AS"
              + " discardedAt FROM gameq_discard WHERE owner = ? ORDER BY table_name, row_key",
          "handovers",
          "SELECT table_name AS `table`, row_key AS `key`, version, IF(received, 'received',"
              + " 'given') AS side, noted_at AS notedAt FROM gameq_handover WHERE owner = ? ORDER"
              + " BY table_name, row_key",
          "handled", // ids that are too long are hashes, see HandledRow
          "SELECT h.topic, h.id, h.handled_at AS handledAt FROM gameq_topic t JOIN gameq_handled h"
              + " ON h.topic = t.topic AND h.id > CONCAT(?, ':') AND h.id < CONCAT(?, ';') ORDER BY"
              + " h.topic, h.id");

  private OwnerRecords() {}

  /**
   * Everything, by what it is; each record by the names of its fields, as text.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static Map<String, List<Map<String, @Nullable String>>> read(MySql mysql, OwnerId owner) {
    return mysql.ask(
        handle -> {
          Map<String, List<Map<String, @Nullable String>>> all = new LinkedHashMap<>();
          for (String name :
              List.of("sessions", "tombstones", "discards", "handovers", "handled")) {
            all.put(name, list(handle.getConnection(), name, owner));
          }
          return all;
        });
  }

  private static List<Map<String, @Nullable String>> list(
      Connection connection, String name, OwnerId owner) throws SQLException {
    String sql = TABLES.getOrDefault(name, "");
    int marks = (int) sql.chars().filter(at -> at == '?').count();
    Object[] owners = Collections.nCopies(marks, owner.encoded()).toArray();
    return Sql.list(connection, sql, OwnerRecords::fields, owners);
  }

  private static Map<String, @Nullable String> fields(ResultSet rs) throws SQLException {
    Map<String, @Nullable String> fields = new LinkedHashMap<>();
    ResultSetMetaData columns = rs.getMetaData();
    for (int i = 1; i <= columns.getColumnCount(); i++) {
      boolean isTime = columns.getColumnType(i) == Types.TIMESTAMP;
      fields.put(
          columns.getColumnLabel(i), isTime ? Sql.instant(rs, i).toString() : rs.getString(i));
    }
    return fields;
  }

  /**
   * The entries of the audit log that name an owner as it is written, by their ids; looks at all of
   * them.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static List<Long> auditEntries(MySql mysql, OwnerId owner) {
    Pattern name = Pattern.compile("(?<![\\w.~-])" + Pattern.quote(owner.id()) + "(?![\\w.~-])");
    return mysql
        .list(
            "SELECT id, target, detail FROM gameq_audit WHERE LOCATE(?, target) > 0 OR LOCATE(?,"
                + " detail) > 0 ORDER BY id",
            rs ->
                name.matcher(rs.getString(2)).find() || name.matcher(rs.getString(3)).find()
                    ? rs.getLong(1)
                    : 0L,
            owner.id(),
            owner.id())
        .stream()
        .filter(id -> id > 0)
        .toList();
  }
}

package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.mysql.schema.TableSpec;
import java.util.Map;
import java.util.TreeMap;
import org.jdbi.v3.core.Handle;

/**
 * What gameq has written into a database about itself; immutable. Empty where it never was.
 *
 * @param settings gameq_setting
 * @param registered gameq_table by table name
 */
record SchemaState(Map<String, String> settings, Map<String, TableSpec> registered) {

  static SchemaState read(Handle handle) {
    Map<String, String> settings = new TreeMap<>();
    Map<String, TableSpec> registered = new TreeMap<>();
    if (exists(handle, "gameq_setting")) {
      handle
          .createQuery("SELECT name, value FROM gameq_setting")
          .map((row, context) -> settings.put(row.getString(1), row.getString(2)))
          .list();
    }
    if (exists(handle, "gameq_table")) {
      handle
          .createQuery("SELECT table_name, owner_kind, owner_column FROM gameq_table")
          .map(
              (row, context) -> new TableSpec(row.getString(1), row.getString(2), row.getString(3)))
          .forEach(table -> registered.put(table.name(), table));
    }
    return new SchemaState(settings, registered);
  }

  /** The number of the last schema file applied; 0 when none was. */
  int schema() {
    return Integer.parseInt(settings.getOrDefault("schema", "0"));
  }

  /**
   * Whether a setting is there.
   *
   * @throws GameQueueException when it is there with another value
   */
  boolean agrees(String name, String wanted) {
    String there = settings.get(name);
    if (there != null && !there.equals(wanted)) {
      throw new GameQueueException(
          ("the configuration has %s %s, the database has %s: it is fixed for a database,"
                  + " so set %s to %s, or use another database")
              .formatted(name, wanted, there, name, there));
    }
    return there != null;
  }

  private static boolean exists(Handle handle, String table) {
    return handle
            .createQuery(
                "SELECT COUNT(*) FROM information_schema.TABLES"
                    + " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?")
            .bind(0, table)
            .mapTo(Integer.class)
            .one()
        > 0;
  }
}

package io.gameq.lab.bench.mysql;

import io.gameq.mysql.MySql;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a MySQL server says of itself. Stateless. */
public final class MySqlFacts {
  private MySqlFacts() {}

  /** The version, and the settings that speed and safety depend on, for a result. */
  public static Map<String, Object> of(MySql mysql) {
    Map<String, Object> facts = new LinkedHashMap<>();
    mysql
        .jdbi()
        .useHandle(
            handle ->
                handle
                    .createQuery(
                        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version',"
                            + " 'version_comment', 'innodb_flush_log_at_trx_commit', 'sync_binlog',"
                            + " 'log_bin', 'innodb_buffer_pool_size', 'innodb_redo_log_capacity',"
                            + " 'innodb_log_file_size', 'innodb_doublewrite',"
                            + " 'innodb_flush_method', 'datadir')")
                    .map((row, context) -> Map.entry(row.getString(1), row.getString(2)))
                    .forEach(setting -> facts.put(setting.getKey(), setting.getValue())));
    return facts;
  }
}

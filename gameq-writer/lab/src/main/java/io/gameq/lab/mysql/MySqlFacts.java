package io.gameq.lab.mysql;

import io.gameq.mysql.MySqlPool.MySql;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    facts.put("cipherOfConnections", cipher(mysql));
    Object data = facts.get("datadir");
    if (data != null && Files.exists(Path.of(data.toString(), "ibdata1"))) { // on this machine
      facts.put("dataFileSystem", fileSystem(Path.of(data.toString())));
    }
    return facts;
  }

  private static String fileSystem(Path directory) {
    try {
      return Files.getFileStore(directory).type();
    } catch (IOException e) {
      return "unknown";
    }
  }

  /** Empty when nothing is encrypted. */
  private static String cipher(MySql mysql) {
    return mysql
        .jdbi()
        .withHandle(
            handle ->
                handle
                    .createQuery("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
                    .map((row, context) -> row.getString(2))
                    .findFirst()
                    .orElse(""));
  }
}

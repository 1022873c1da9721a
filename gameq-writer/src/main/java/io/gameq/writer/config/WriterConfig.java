package io.gameq.writer.config;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlConfig;
import io.gameq.mysql.schema.TableSpec;
import io.gameq.redis.RedisConfig;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything a gameq.yaml says, with defaults filled in; immutable. Shown without secrets.
 *
 * @param slots shards of owners, a power of two, fixed for a namespace
 * @param tables what the schema commands manage; a writer reads gameq_table, and starts only if
 *     these are there
 * @param node null: there is none in the writer's process
 */
public record WriterConfig(
    String namespace,
    int slots,
    RedisConfig redis,
    MySqlConfig mysql,
    WriterSettings writer,
    HttpSettings http,
    LogSettings log,
    List<TableSpec> tables,
    @Nullable NodeSettings node) {
  public WriterConfig {
    tables = List.copyOf(tables);
  }

  /**
   * The tables.
   *
   * @throws GameQueueException when the file lists none
   */
  public List<TableSpec> requiredTables() {
    if (tables.isEmpty()) {
      throw new GameQueueException(
          "setting 'tables' is missing: list each table with name, owner and ownerColumn");
    }
    return tables;
  }
}

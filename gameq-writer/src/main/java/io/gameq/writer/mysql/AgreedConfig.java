package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.schema.Settings;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import picocli.CommandLine.Model.CommandSpec;

/**
 * A command's configuration, compared with the database first: with another namespace or number of
 * slots a command would look where nothing is, and say that all is well. Stateless.
 */
public final class AgreedConfig {
  private AgreedConfig() {}

  /**
   * Reads the file. Where MySQL cannot be asked it says so and goes on: what waits in Redis is to
   * be seen then too.
   *
   * @throws GameQueueException when the database has others, or the file is wrong
   */
  public static WriterConfig read(ConfigOption option, CommandSpec command) {
    WriterConfig config = option.read();
    String other = null;
    try (MySql mysql = MySqlPool.open(config.mysql().withPoolSize(1), "config")) {
      other = Settings.difference(mysql, config.namespace(), config.slots());
    } catch (GameQueueException e) {
      command
          .commandLine()
          .getErr()
          .println(option.file() + " is not compared with the database: " + e.getMessage());
    }
    if (other != null) {
      throw new GameQueueException(option.file() + ": " + other);
    }
    return config;
  }
}

package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.TermTable;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnector;
import io.gameq.term.Term;
import io.gameq.term.Terms.QueueIdentity;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import picocli.CommandLine.Model.CommandSpec;

/**
 * A command's configuration, compared with the servers first: with another namespace or number of
 * slots, or a Redis of another database or one that does not count, a command would look where
 * nothing is, and say that all is well. Stateless.
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
    Database unused = compared(option, config, command);
    return config;
  }

  /** The same of a command that uses Redis, which is to be the one of the database that counts. */
  public static WriterConfig readWithRedis(ConfigOption option, CommandSpec command) {
    WriterConfig config = option.read();
    Database database = compared(option, config, command);
    try (RedisConnector redis = new RedisConnector(config.redis())) {
      PrimaryConnector.refuseOther(redis, database.identity, database.term);
    }
    return config;
  }

  private record Database(QueueIdentity identity, Term term) {}

  private static Database compared(ConfigOption option, WriterConfig config, CommandSpec command) {
    String other = null;
    Database database = new Database(QueueIdentity.ANY, Term.NONE);
    try (MySql mysql = MySqlPool.open(config.mysql().withPoolSize(1), "config")) {
      other = Settings.difference(mysql, config.namespace(), config.slots());
      database = new Database(Settings.identity(mysql), new TermTable(mysql).current());
    } catch (GameQueueException e) {
      command
          .commandLine()
          .getErr()
          .println(option.file() + " is not compared with the database: " + e.getMessage());
    }
    if (other != null) {
      throw new GameQueueException(option.file() + ": " + other);
    }
    return database;
  }
}

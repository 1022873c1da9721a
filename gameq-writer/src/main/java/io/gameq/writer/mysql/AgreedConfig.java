package io.gameq.writer.mysql;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.schema.Settings;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisIdentity;
import io.gameq.term.QueueIdentity;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Model.CommandSpec;

/**
 * A command's configuration, compared with the servers first: with another namespace or number of
 * slots, or the Redis of another database, a command would look where nothing is, and say that all
 * is well. Stateless.
 */
public final class AgreedConfig {
  private static final Logger LOG = LoggerFactory.getLogger(AgreedConfig.class);

  private AgreedConfig() {}

  /**
   * Reads the file. Where MySQL cannot be asked it says so and goes on: what waits in Redis is to
   * be seen then too.
   *
   * @throws GameQueueException when the database has others, or the file is wrong
   */
  public static WriterConfig read(ConfigOption option, CommandSpec command) {
    WriterConfig config = option.read();
    QueueIdentity unused = compared(option, config, command);
    return config;
  }

  /** The same of a command that uses Redis, which is to belong to the database. */
  public static WriterConfig readWithRedis(ConfigOption option, CommandSpec command) {
    WriterConfig config = option.read();
    requireRedis(config, compared(option, config, command));
    return config;
  }

  private static QueueIdentity compared(
      ConfigOption option, WriterConfig config, CommandSpec command) {
    String other = null;
    QueueIdentity identity = QueueIdentity.ANY;
    try (MySql mysql = MySqlPool.open(config.mysql().withPoolSize(1), "config")) {
      other = Settings.difference(mysql, config.namespace(), config.slots());
      identity = Settings.identity(mysql);
    } catch (GameQueueException e) {
      command
          .commandLine()
          .getErr()
          .println(option.file() + " is not compared with the database: " + e.getMessage());
    }
    if (other != null) {
      throw new GameQueueException(option.file() + ": " + other);
    }
    return identity;
  }

  /** What is wrong with the server itself is for the command to tell. */
  private static void requireRedis(WriterConfig config, QueueIdentity identity) {
    try (RedisConnector connector = new RedisConnector(config.redis())) {
      RedisConnection redis;
      try {
        redis = connector.open();
      } catch (GameQueueException e) {
        LOG.debug("Redis is not compared with the database", e);
        return;
      }
      boolean unused = RedisIdentity.require(redis, identity);
      redis.close();
    }
  }
}

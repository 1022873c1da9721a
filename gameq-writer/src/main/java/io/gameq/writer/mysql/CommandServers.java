package io.gameq.writer.mysql;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.Slots;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Redis and MySQL of a command, whose settings agree with the database; each is connected when it
 * is first asked for. Used by one thread.
 */
public final class CommandServers implements AutoCloseable {
  private final WriterConfig settings;
  private final String purpose;
  private final RedisConnector connector;
  private final ControlConnection redis;
  private @Nullable MySql mysql;

  /**
   * Reads the settings.
   *
   * @throws io.gameq.GameQueueException as {@link AgreedConfig#readWithRedis}
   */
  public CommandServers(ConfigOption config, CommandSpec command) {
    settings = AgreedConfig.readWithRedis(config, command);
    purpose = command.name();
    connector = new RedisConnector(settings.redis());
    redis = new ControlConnection(connector);
  }

  public WriterConfig settings() {
    return settings;
  }

  public Slots slots() {
    return new Slots(settings.namespace(), settings.slots());
  }

  /** Calls throw {@link io.gameq.RedisUnavailableException} while it is away. */
  public ControlConnection redis() {
    return redis;
  }

  /**
   * MySQL over one connection.
   *
   * @throws io.gameq.GameQueueException as {@link CommandDatabase#open}; the next call tries again
   */
  public MySql mysql() {
    MySql open = mysql;
    if (open == null) {
      open = CommandDatabase.open(settings.mysql(), purpose);
      mysql = open;
    }
    return open;
  }

  @Override
  public void close() {
    if (mysql != null) {
      mysql.close();
    }
    redis.close();
    connector.close();
  }
}

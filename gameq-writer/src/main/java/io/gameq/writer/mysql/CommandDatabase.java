package io.gameq.writer.mysql;

import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.schema.Settings;

/** MySQL as a command reaches it: one connection, gameq's own tables checked. Stateless. */
public final class CommandDatabase {
  private CommandDatabase() {}

  /**
   * Connects.
   *
   * @param purpose ends the pool's name in logs
   * @throws io.gameq.GameQueueException when the server is away or refuses the login, or gameq's
   *     own tables are missing; nothing is left open then
   */
  public static MySql open(MySqlConfig config, String purpose) {
    return open(config, purpose, 1);
  }

  /** The same over several connections. */
  public static MySql open(MySqlConfig config, String purpose, int connections) {
    MySql mysql = MySqlPool.open(config.withPoolSize(connections), purpose);
    try {
      Settings.requireSchema(mysql);
    } catch (RuntimeException e) {
      mysql.close();
      throw e;
    }
    return mysql;
  }
}

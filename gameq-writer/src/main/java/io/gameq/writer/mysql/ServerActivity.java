package io.gameq.writer.mysql;

import io.gameq.mysql.MySqlPool.MySql;
import java.util.List;

/** What MySQL does for connections of this user, which no right is needed to see. Stateless. */
public final class ServerActivity {
  private static final String DOING =
      "SELECT CONCAT(state, ' for ', time, ' s') FROM information_schema.processlist WHERE command"
          + " NOT IN ('Sleep', 'Daemon') AND state <> '' AND id <> CONNECTION_ID() ORDER BY time"
          + " DESC LIMIT 3";

  private ServerActivity() {}

  /**
   * What takes longest, as the server says it; empty when nothing is under way.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public static List<String> of(MySql mysql) {
    return mysql.ask(handle -> handle.createQuery(DOING).mapTo(String.class).list());
  }
}

package io.gameq.writer.mysql;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.DiscardTable;
import io.gameq.mysql.tables.DiscardTable.Discard;
import java.util.List;

/** Where {@code stale discard} has MySQL remember what it removed from Redis. Thread-safe. */
public final class Discards {
  private final MySql mysql;

  /** Over connections that somebody else closes. */
  public Discards(MySql mysql) {
    this.mysql = mysql;
  }

  /**
   * Remembers them.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public void remember(List<Discard> discards) {
    mysql.askAgain(
        handle -> {
          DiscardTable.write(handle.getConnection(), discards);
          return true;
        });
  }

  /**
   * Forgets them, where nobody gave up more since.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public void forget(List<Discard> discards) {
    mysql.askAgain(
        handle -> {
          DiscardTable.remove(handle.getConnection(), discards);
          return true;
        });
  }
}

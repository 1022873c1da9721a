package io.gameq.writer.mysql;

import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.DiscardTable;
import io.gameq.mysql.tables.DiscardTable.Discard;
import java.util.List;

/** Where {@code stale discard} has MySQL remember what it removed from Redis. Thread-safe. */
public final class Discards implements AutoCloseable {
  private final MySql mysql;
  private final boolean ownsPool;

  /** Over connections that somebody else closes. */
  public Discards(MySql mysql) {
    this(mysql, false);
  }

  private Discards(MySql mysql, boolean ownsPool) {
    this.mysql = mysql;
    this.ownsPool = ownsPool;
  }

  /**
   * Connects.
   *
   * @throws io.gameq.GameQueueException when the server is away or refuses the login, or gameq's
   *     own tables are missing
   */
  public static Discards open(MySqlConfig config) {
    Discards discards = new Discards(MySqlPool.open(config.withPoolSize(1), "discard"), true);
    try {
      Settings.requireSchema(discards.mysql);
    } catch (RuntimeException e) {
      discards.close();
      throw e;
    }
    return discards;
  }

  /**
   * Remembers what an operator is about to do.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer: then it is not to be done
   */
  public void audit(Actor actor, String action, String target, String detail) {
    AuditTable.add(mysql, actor, action, target, detail);
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

  @Override
  public void close() {
    if (ownsPool) {
      mysql.close();
    }
  }
}

package io.gameq.writer.console;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.writer.admin.DeadRows;
import io.gameq.writer.admin.Topics;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.redis.StaleRows;
import io.javalin.http.ServiceUnavailableResponse;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * MySQL and Redis as the console reaches them: over connections of its own, opened when a page
 * first needs them, so that no page takes one from the workers. Thread-safe.
 */
final class ConsoleServers implements AutoCloseable {
  /** Each may need two connections, and must not wait for its second one for ever. */
  private static final int MOST_AT_LETTERS = 2;

  /** Each looks for two seconds at most. */
  private static final int MOST_AT_LISTS = 2;

  private static final int MYSQL_CONNECTIONS = 2 * (MOST_AT_LETTERS + MOST_AT_LISTS);

  private static final long MOST_WAIT_SECONDS = 10;

  private final CommandServers servers;
  private final Semaphore atLetters = new Semaphore(MOST_AT_LETTERS);
  private final Semaphore atLists = new Semaphore(MOST_AT_LISTS);
  private final Semaphore atTopics = new Semaphore(1);
  private final CommandServers ofTopics;

  ConsoleServers(WriterConfig settings) {
    servers = new CommandServers(settings, "console", MYSQL_CONNECTIONS);
    ofTopics = new CommandServers(settings, "console", 1);
  }

  /**
   * MySQL.
   *
   * @throws io.gameq.GameQueueException when it is away or refuses the login, or gameq's own tables
   *     are missing
   */
  MySql mysql() {
    return servers.mysql();
  }

  /** All of them, for what commands do too. */
  CommandServers all() {
    return servers;
  }

  /** Stale rows in Redis; throws {@link io.gameq.GameQueueException} when Redis is unfit. */
  StaleRows stale() {
    return new StaleRows(servers.redis(), servers.slots());
  }

  /**
   * Does something with dead letters.
   *
   * @throws ServiceUnavailableResponse when others do so all the time
   */
  <T extends @Nullable Object> T letters(Actor actor, Function<DeadRows, T> work) {
    return inTurn(atLetters, "the dead letters", () -> work.apply(deadRows(actor)));
  }

  /** Dead letters; to be used within {@link #list}, or {@link #letters}. */
  DeadRows deadRows(Actor actor) {
    return new DeadRows(new DeadLetters(mysql()), actor);
  }

  /**
   * Reads a page of a list that may be long, in places of their own: lists hold up nothing else.
   *
   * @throws ServiceUnavailableResponse when others do so all the time
   */
  <T extends @Nullable Object> T list(Supplier<T> page) {
    return inTurn(atLists, "the lists", page);
  }

  /**
   * Does something with topics: one at a time, over a connection of their own, since a look at all
   * of them is sent in one go.
   *
   * @throws ServiceUnavailableResponse when others do so all the time
   */
  <T extends @Nullable Object> T topics(Actor actor, Function<Topics, T> work) {
    return inTurn(atTopics, "the topics", () -> work.apply(new Topics(ofTopics, actor)));
  }

  private static <T extends @Nullable Object> T inTurn(
      Semaphore free, String what, Supplier<T> work) {
    try {
      if (!free.tryAcquire(MOST_WAIT_SECONDS, TimeUnit.SECONDS)) {
        throw new ServiceUnavailableResponse("others are at %s: try again".formatted(what));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServiceUnavailableResponse("the writer stops");
    }
    try {
      return work.get();
    } finally {
      free.release();
    }
  }

  @Override
  public void close() {
    servers.close();
    ofTopics.close();
  }
}

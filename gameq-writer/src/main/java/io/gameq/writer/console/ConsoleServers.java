package io.gameq.writer.console;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.Slots;
import io.gameq.writer.admin.DeadRows;
import io.gameq.writer.admin.Topics;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.console.GuardedRoutes.Visitor;
import io.gameq.writer.mysql.CommandServers.CommandDatabase;
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

  private final WriterConfig settings;
  private final Semaphore atLetters = new Semaphore(MOST_AT_LETTERS);
  private final Semaphore atLists = new Semaphore(MOST_AT_LISTS);
  private final Semaphore atTopics = new Semaphore(1);
  private @Nullable MySql mysql;
  private @Nullable StaleRows stale;
  private @Nullable ControlConnection redis;
  private @Nullable ControlConnection topicsRedis;
  private @Nullable RedisConnector connector;

  ConsoleServers(WriterConfig settings) {
    this.settings = settings;
  }

  /**
   * MySQL.
   *
   * @throws io.gameq.GameQueueException when it is away or refuses the login, or gameq's own tables
   *     are missing; the next call tries again
   */
  synchronized MySql mysql() {
    MySql open = mysql;
    if (open == null) {
      open = CommandDatabase.open(settings.mysql(), "console", MYSQL_CONNECTIONS);
      mysql = open;
    }
    return open;
  }

  /**
   * Does something with dead letters.
   *
   * @throws io.javalin.http.ServiceUnavailableResponse when others do so all the time
   */
  <T extends @Nullable Object> T letters(Visitor visitor, Function<DeadRows, T> work) {
    return inTurn(atLetters, "the dead letters", () -> work.apply(deadRows(visitor)));
  }

  /** Dead letters; to be used within {@link #list}, or {@link #letters}. */
  DeadRows deadRows(Visitor visitor) {
    return new DeadRows(new DeadLetters(mysql()), visitor.actor());
  }

  /**
   * Reads a page of a list that may be long, in places of their own: lists hold up nothing else.
   *
   * @throws io.javalin.http.ServiceUnavailableResponse when others do so all the time
   */
  <T extends @Nullable Object> T list(Supplier<T> page) {
    return inTurn(atLists, "the lists", page);
  }

  /**
   * Does something with topics: one at a time, over a connection of their own, since a look at all
   * of them is sent in one go.
   *
   * @throws io.javalin.http.ServiceUnavailableResponse when others do so all the time
   */
  <T extends @Nullable Object> T topics(Visitor visitor, Function<Topics, T> work) {
    return inTurn(
        atTopics,
        "the topics",
        () -> work.apply(new Topics(topicsRedis(), slots(), this::mysql, visitor.actor())));
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

  /** Redis; calls throw {@link io.gameq.RedisUnavailableException} while it is away. */
  synchronized ControlConnection redis() {
    ControlConnection open = redis;
    if (open == null) {
      open = new ControlConnection(connector());
      redis = open;
    }
    return open;
  }

  private synchronized ControlConnection topicsRedis() {
    ControlConnection open = topicsRedis;
    if (open == null) {
      open = new ControlConnection(connector());
      topicsRedis = open;
    }
    return open;
  }

  private synchronized RedisConnector connector() {
    RedisConnector open = connector;
    if (open == null) {
      open = new RedisConnector(settings.redis());
      connector = open;
    }
    return open;
  }

  String namespace() {
    return settings.namespace();
  }

  Slots slots() {
    return new Slots(settings.namespace(), settings.slots());
  }

  /** Stale rows in Redis; throws {@link io.gameq.GameQueueException} when Redis is unfit. */
  synchronized StaleRows stale() {
    StaleRows open = stale;
    if (open == null) {
      open = new StaleRows(settings.redis(), settings.namespace(), settings.slots());
      stale = open;
    }
    return open;
  }

  @Override
  public synchronized void close() {
    if (mysql != null) {
      mysql.close();
      mysql = null;
    }
    if (stale != null) {
      stale.close();
      stale = null;
    }
    if (redis != null) {
      redis.close();
      redis = null;
    }
    if (topicsRedis != null) {
      topicsRedis.close();
      topicsRedis = null;
    }
    if (connector != null) {
      connector.close();
      connector = null;
    }
  }
}

package io.gameq.writer.console;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.Slots;
import io.gameq.writer.admin.DeadRows;
import io.gameq.writer.admin.Topics;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.CommandServers.CommandDatabase;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.redis.StaleRows;
import io.javalin.http.ServiceUnavailableResponse;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
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
  private final LazyConnection<MySql> mysql;
  private final LazyConnection<StaleRows> stale;
  private final LazyConnection<RedisConnector> connector;
  private final LazyConnection<ControlConnection> redis;
  private final LazyConnection<ControlConnection> topicsRedis;

  /** Opened by who needs it first; one that could not be is tried again. Thread-safe. */
  private static final class LazyConnection<T> {
    private final Supplier<T> open;
    private final Consumer<T> close;
    private @Nullable T opened;

    LazyConnection(Supplier<T> open, Consumer<T> close) {
      this.open = open;
      this.close = close;
    }

    synchronized T get() {
      T now = opened == null ? open.get() : opened;
      opened = now;
      return now;
    }

    synchronized void close() {
      if (opened != null) {
        close.accept(opened);
        opened = null;
      }
    }
  }

  ConsoleServers(WriterConfig settings) {
    this.settings = settings;
    mysql =
        new LazyConnection<>(
            () -> CommandDatabase.open(settings.mysql(), "console", MYSQL_CONNECTIONS),
            MySql::close);
    stale =
        new LazyConnection<>(
            () -> new StaleRows(settings.redis(), settings.namespace(), settings.slots()),
            StaleRows::close);
    connector =
        new LazyConnection<>(() -> new RedisConnector(settings.redis()), RedisConnector::close);
    redis = new LazyConnection<>(this::connection, ControlConnection::close);
    topicsRedis = new LazyConnection<>(this::connection, ControlConnection::close);
  }

  private ControlConnection connection() {
    return new ControlConnection(connector.get());
  }

  /**
   * MySQL.
   *
   * @throws io.gameq.GameQueueException when it is away or refuses the login, or gameq's own tables
   *     are missing
   */
  MySql mysql() {
    return mysql.get();
  }

  /** Redis; calls throw {@link io.gameq.RedisUnavailableException} while it is away. */
  ControlConnection redis() {
    return redis.get();
  }

  /** Stale rows in Redis; throws {@link io.gameq.GameQueueException} when Redis is unfit. */
  StaleRows stale() {
    return stale.get();
  }

  String namespace() {
    return settings.namespace();
  }

  Slots slots() {
    return new Slots(settings.namespace(), settings.slots());
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
    return inTurn(
        atTopics,
        "the topics",
        () -> work.apply(new Topics(topicsRedis.get(), slots(), this::mysql, actor)));
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
    List.of(mysql, stale, redis, topicsRedis, connector).forEach(LazyConnection::close);
  }
}

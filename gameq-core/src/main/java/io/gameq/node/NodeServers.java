package io.gameq.node;

import io.gameq.config.GameQueueConfig;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.LayoutTable;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.TermTable;
import io.gameq.owner.OwnerId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.PrimaryConnector.RedisIdentity;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisConnector.RedisLogin;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.term.Terms.QueueIdentity;
import io.gameq.wal.WalRecord;
import io.gameq.wal.WalWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The servers of a node, checked at start, and the ways to them. Thread-safe.
 *
 * @param atStart the managed tables as they were then
 * @param database which one it is, by gameq_setting
 * @param ofSender on one thread of its own
 * @param primary by way of {@code ofSender}, to the primary that counts
 * @param control for scripts of all threads
 */
record NodeServers(
    MySql mysql,
    String database,
    LayoutTable layouts,
    Catalog atStart,
    SlotKeys[] slots,
    RedisConnector connector,
    RedisConnector ofSender,
    PrimaryConnector primary,
    ControlConnection control) {
  private static final Logger LOG = LoggerFactory.getLogger(NodeServers.class);

  /**
   * Connects; throws GameQueueException when a server is away, or it, or its schema, is not one to
   * run on.
   */
  static NodeServers open(GameQueueConfig config, ResourceStack opened) {
    MySqlConfig login =
        new MySqlConfig(
            config.jdbcUrl(),
            config.mysqlUser(),
            config.mysqlPassword(),
            config.poolSize(),
            config.mysqlTls());
    MySql mysql = opened.add(MySqlPool.openForLogins(login, config.callTimeout()));
    MySqlServerCheck.of(mysql).requireUsable();
    Settings.agree(mysql, config.namespace(), config.slots());
    QueueIdentity identity = Settings.identity(mysql);
    Catalog catalog = CatalogReader.read(mysql).requireManaged();
    LayoutTable layouts = new LayoutTable(mysql);
    layouts.register(catalog);

    RedisConnector connector = opened.add(new RedisConnector(address(config)));
    RedisConnector ofSender = opened.add(RedisConnector.ofOneThread(address(config)));
    ControlConnection control = opened.add(new ControlConnection(connector));
    boolean unused = RedisIdentity.require(control.get(), identity);
    return new NodeServers(
        mysql,
        identity.database(),
        layouts,
        catalog,
        SlotKeys.all(config.namespace(), config.slots()),
        connector,
        ofSender,
        new PrimaryConnector(ofSender, new TermTable(mysql, config.slots())),
        control);
  }

  /** A connection to Redis, and a thread, that nothing else uses. */
  static ControlConnection apart(GameQueueConfig config, ResourceStack opened) {
    return opened.add(
        new ControlConnection(opened.add(RedisConnector.ofOneThread(address(config)))));
  }

  private static RedisConfig address(GameQueueConfig config) {
    return new RedisConfig(
        config.redisUri(),
        new RedisLogin(config.redisUser(), config.redisPassword()),
        new RedisLogin(config.sentinelUser(), config.sentinelPassword()),
        config.redisTls(),
        RedisConfig.DEFAULT_TIMEOUT_MILLIS);
  }

  /** Has Redis do something that answers nothing. */
  void call(Consumer<RedisConnection> what) {
    control.run(what);
  }

  /** What Redis answers to what changes nothing. */
  <T> T ask(Function<RedisConnection, T> question) {
    return control.ask(question);
  }

  SlotKeys slot(OwnerId owner) {
    return slots[owner.slot(slots.length)];
  }

  /** The catalogue, after a table was altered: its column lists are kept before rows name them. */
  Catalog readAgain(WalWriter wal) {
    Catalog catalog = CatalogReader.read(mysql);
    layouts.register(catalog);
    wal.appendLayouts(layoutsOf(catalog));
    return catalog;
  }

  static List<WalRecord.Layout> layoutsOf(Catalog catalog) {
    return catalog.tables().stream()
        .map(t -> new WalRecord.Layout(t.name(), t.fingerprint(), t.layout()))
        .toList();
  }

  /**
   * The resources that were opened, to be closed in reverse order; one that fails to close is
   * logged and does not keep the others open. Not thread-safe.
   */
  static final class ResourceStack implements AutoCloseable {
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    <T extends AutoCloseable> T add(T resource) {
      opened.push(resource);
      return resource;
    }

    @Override
    public void close() {
      while (!opened.isEmpty()) {
        try {
          opened.pop().close();
        } catch (Exception e) {
          LOG.warn("while closing: {}", e.toString());
        }
      }
    }
  }
}

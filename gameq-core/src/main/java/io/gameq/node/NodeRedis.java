package io.gameq.node;

import io.gameq.GameQueueConfig;
import io.gameq.mysql.MySql;
import io.gameq.mysql.tables.TermTable;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisLogin;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.OwnKey;

/**
 * The ways of a node to Redis. Thread-safe.
 *
 * @param ofSender on one thread of its own
 * @param primary by way of {@code ofSender}, to the primary that counts
 * @param control for scripts of all threads
 */
record NodeRedis(
    SlotKeys[] slots,
    RedisConnector connector,
    RedisConnector ofSender,
    PrimaryConnector primary,
    ControlConnection control) {
  /** Connects; throws GameQueueException when Redis is away, or not one that gameq runs on. */
  static NodeRedis open(GameQueueConfig config, MySql mysql, ResourceStack opened) {
    RedisConnector connector = opened.add(new RedisConnector(address(config)));
    RedisConnector ofSender = opened.add(RedisConnector.ofOneThread(address(config)));
    ControlConnection control = opened.add(new ControlConnection(connector));
    control.get();
    return new NodeRedis(
        SlotKeys.all(config.namespace(), config.slots()),
        connector,
        ofSender,
        new PrimaryConnector(ofSender, new TermTable(mysql, config.slots())),
        control);
  }

  /** A connection, and a thread, that nothing else uses. */
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

  /** Ends a session; false when another one owns as far as Redis knows. */
  boolean close(SessionRef session) {
    return control.call(
        redis -> OwnKey.close(redis, slots[session.slot()], session.owner(), session.id()));
  }

  SlotKeys slot(OwnerId owner) {
    return slots[owner.slot(slots.length)];
  }
}

package io.gameq.writer;

import io.lettuce.core.RestoreArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;

/**
 * What Redis held of a namespace at some moment, to go back to: what a failover to a replica that
 * was behind does. Immutable.
 */
final class RedisImage {
  private final StatefulRedisConnection<byte[], byte[]> redis;
  private final String pattern;
  private final List<byte[]> keys;
  private final List<byte[]> dumps;

  private RedisImage(StatefulRedisConnection<byte[], byte[]> redis, String namespace, boolean now) {
    this.redis = redis;
    this.pattern = "{" + namespace + ":*";
    this.keys = now ? redis.sync().keys(pattern) : List.of();
    this.dumps = keys.stream().map(redis.sync()::dump).toList();
  }

  static RedisImage empty(StatefulRedisConnection<byte[], byte[]> redis, String namespace) {
    return new RedisImage(redis, namespace, false);
  }

  static RedisImage of(StatefulRedisConnection<byte[], byte[]> redis, String namespace) {
    return new RedisImage(redis, namespace, true);
  }

  /** Loses everything that was written since. */
  void restore() {
    RedisCommands<byte[], byte[]> commands = redis.sync();
    List<byte[]> written = commands.keys(pattern);
    commands.multi();
    written.forEach(commands::del);
    for (int i = 0; i < keys.size(); i++) {
      commands.restore(keys.get(i), dumps.get(i), RestoreArgs.Builder.ttl(0));
    }
    commands.exec();
  }
}

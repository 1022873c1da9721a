package io.gameq.writer;

import io.gameq.redis.RedisConnection;
import io.lettuce.core.RestoreArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;

/**
 * What Redis held of a namespace at some moment, to go back to: what a failover to a replica that
 * was behind does. Immutable.
 */
final class RedisContents {
  private final RedisConnection redis;
  private final String pattern;
  private final List<byte[]> keys;
  private final List<byte[]> dumps;

  private RedisContents(RedisConnection redis, String namespace, boolean now) {
    this.redis = redis;
    this.pattern = "{" + namespace + ":*";
    this.keys = now ? redis.sync().keys(pattern) : List.of();
    this.dumps = keys.stream().map(redis.sync()::dump).toList();
  }

  static RedisContents empty(RedisConnection redis, String namespace) {
    return new RedisContents(redis, namespace, false);
  }

  static RedisContents of(RedisConnection redis, String namespace) {
    return new RedisContents(redis, namespace, true);
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

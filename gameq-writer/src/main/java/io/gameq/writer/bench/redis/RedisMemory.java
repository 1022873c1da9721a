package io.gameq.writer.bench.redis;

import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.Optional;

/** What a Redis server says of itself, and the keys of a benchmark's namespace. Thread-safe. */
public final class RedisMemory implements AutoCloseable {
  private final ControlConnection connection;

  public RedisMemory(RedisConnector redis) {
    connection = new ControlConnection(redis);
  }

  /** {@code used_memory}: bytes of data and overhead. */
  public long usedBytes() {
    return Long.parseLong(info("memory", "used_memory").orElse("0"));
  }

  /** A line of INFO. */
  public Optional<String> info(String section, String name) {
    return connection
        .get()
        .sync()
        .info(section)
        .lines()
        .filter(line -> line.startsWith(name + ":"))
        .map(line -> line.substring(name.length() + 1).strip())
        .findFirst();
  }

  /** Deletes every key of a namespace; others are not touched. */
  public void delete(String namespace) {
    StatefulRedisConnection<byte[], byte[]> redis = connection.get();
    ScanArgs ours = ScanArgs.Builder.matches("{" + namespace + ":*").limit(10_000);
    KeyScanCursor<byte[]> cursor = redis.sync().scan(ours);
    while (true) {
      if (!cursor.getKeys().isEmpty()) {
        redis.sync().unlink(cursor.getKeys().toArray(byte[][]::new));
      }
      if (cursor.isFinished()) {
        return;
      }
      cursor = redis.sync().scan(cursor, ours);
    }
  }

  @Override
  public void close() {
    connection.close();
  }
}

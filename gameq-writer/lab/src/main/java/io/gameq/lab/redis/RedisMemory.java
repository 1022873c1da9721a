package io.gameq.lab.redis;

import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisReply;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScanArgs;
import java.util.Optional;

/** What a Redis server holds and says of itself; removes a benchmark's namespace. Thread-safe. */
public final class RedisMemory implements AutoCloseable {
  private final ControlConnection connection;

  public RedisMemory(RedisConnector redis) {
    connection = new ControlConnection(redis);
  }

  /** {@code used_memory} without the buffers of clients: bytes of data and their overhead. */
  public long usedBytes() {
    return Long.parseLong(info("memory", "used_memory").orElse("0"))
        - Long.parseLong(info("memory", "mem_clients_normal").orElse("0"));
  }

  /** A line of INFO. */
  Optional<String> info(String section, String name) {
    return RedisReply.await(() -> connection.get().sync().info(section))
        .lines()
        .filter(line -> line.startsWith(name + ":"))
        .map(line -> line.substring(name.length() + 1).strip())
        .findFirst();
  }

  /** Deletes every key of a namespace; others are not touched. */
  public void delete(String namespace) {
    deleteMatching("{" + namespace + ":*");
  }

  /** Deletes every key that matches a pattern of SCAN. */
  public void deleteMatching(String pattern) {
    RedisConnection redis = connection.get();
    ScanArgs ours = ScanArgs.Builder.matches(pattern).limit(10_000);
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

  /** A line of CONFIG, or "unknown": hosted servers refuse it. */
  String setting(String name) {
    try {
      return connection.get().sync().configGet(name).getOrDefault(name, "unknown");
    } catch (RedisCommandExecutionException e) {
      return "unknown";
    }
  }

  @Override
  public void close() {
    connection.close();
  }
}

package io.gameq.test.redis;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;

/** The keys of a namespace that one test class has for itself. One thread at a time. */
public final class ClassNamespace implements AutoCloseable {
  private static final int KEYS_AT_ONCE = 1_000;

  private final String name;
  private final RedisConnector connector;
  private final RedisConnection redis;

  /** Throws GameQueueException when Redis is away or refuses the login. */
  public ClassNamespace(String uri, String name) {
    this.name = name;
    this.connector = new RedisConnector(new RedisConfig(uri));
    this.redis = connector.open();
  }

  /** Deletes what slots hold, and topics; not what says which Redis it is, and who lives. */
  public void empty() {
    delete("{" + name + ":*");
    delete(name + ":topics");
  }

  private void delete(String pattern) {
    ScanArgs these = ScanArgs.Builder.matches(SlotKeys.bytes(pattern)).limit(KEYS_AT_ONCE);
    ScanCursor at = ScanCursor.INITIAL;
    do {
      ScanCursor from = at;
      KeyScanCursor<byte[]> found = RedisReply.await(() -> redis.sync().scan(from, these));
      if (!found.getKeys().isEmpty()) {
        long unused =
            RedisReply.await(() -> redis.sync().del(found.getKeys().toArray(new byte[0][])));
      }
      at = found;
    } while (!at.isFinished());
  }

  /** Deletes all of it. */
  @Override
  public void close() {
    empty();
    delete(name + ":*");
    redis.close();
    connector.close();
  }
}

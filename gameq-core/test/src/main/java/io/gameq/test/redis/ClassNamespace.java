package io.gameq.test.redis;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import java.util.List;

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
    List<byte[]> keys =
        RedisReply.await(() -> ScanIterator.scan(redis.sync(), these).stream().toList());
    for (List<byte[]> some : LuaScript.pieces(keys, KEYS_AT_ONCE)) {
      long unused = RedisReply.await(() -> redis.sync().del(some.toArray(new byte[0][])));
    }
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

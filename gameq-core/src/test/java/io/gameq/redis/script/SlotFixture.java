package io.gameq.redis.script;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.SlotKeys;
import io.gameq.servers.TestServers;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/**
 * One slot of a namespace of its own on the real Redis, with rows as short texts: {@code version}
 * digits, 'p', value.
 */
public final class SlotFixture implements AutoCloseable {
  public final String namespace = "t" + UUID.randomUUID().toString().substring(0, 8);
  public final SlotKeys slot = new SlotKeys(namespace, 0);
  public final OwnerId owner = OwnerId.of("player:42");
  public final SessionId first = new SessionId(1, "aaaaaaaa00000001");
  public final SessionId second = new SessionId(2, "bbbbbbbb00000002");

  private final RedisConnector connector =
      new RedisConnector(new RedisConfig(TestServers.redisUri()));
  public final RedisConnection redis = connector.open();

  /** A row image with a version and a value that is no MessagePack, which no script looks into. */
  public static String row(int version, String value) {
    return "%016xp%s".formatted(version, value);
  }

  /** Does what a commit's MULTI does to the rows. */
  public void commit(SessionId session, String key, String row, long dueMillis) {
    redis.sync().hset(slot.dirty(owner, session), bytes(key), bytes(row));
    redis
        .sync()
        .zadd(slot.due(), (double) dueMillis, bytes(owner.encoded() + ":" + session.text()));
  }

  public SessionScripts.Outcome open(SessionId session) {
    return SessionScripts.open(redis, slot, owner, session, 0, false);
  }

  public Map<String, String> dirty(SessionId session) {
    return hash(slot.dirty(owner, session));
  }

  public Map<String, String> claimed() {
    return hash(bytes(slot.prefix() + ":claimed:" + owner.encoded()));
  }

  public Map<String, String> hash(byte[] key) {
    Map<String, String> rows = new TreeMap<>();
    redis.sync().hgetall(key).forEach((k, v) -> rows.put(text(k), text(v)));
    return rows;
  }

  public List<String> due() {
    return redis.sync().zrange(slot.due(), 0, -1).stream().map(SlotFixture::text).toList();
  }

  public String own() {
    byte[] own = redis.sync().get(slot.own(owner));
    return own == null ? "none" : text(own);
  }

  /** Remaining life of the own key: -1 for ever, -2 when there is none, else ms. */
  public long ownLifeMillis() {
    return redis.sync().pttl(slot.own(owner));
  }

  public String member(SessionId session) {
    return owner.encoded() + ":" + session.text();
  }

  public static byte[] bytes(String text) {
    return text.getBytes(US_ASCII);
  }

  public static String text(byte[] bytes) {
    return new String(bytes, US_ASCII);
  }

  /** How many calls of scripts something takes: the fewest, since other tests have some, too. */
  public long scriptCalls(Runnable of) {
    long fewest = Long.MAX_VALUE;
    for (int i = 0; i < 20; i++) {
      long before = scriptCalls();
      of.run();
      fewest = Math.min(fewest, scriptCalls() - before);
    }
    return fewest;
  }

  private long scriptCalls() {
    return redis
        .sync()
        .info("commandstats")
        .lines()
        .filter(line -> line.startsWith("cmdstat_eval"))
        .mapToLong(line -> Long.parseLong(line.replaceFirst(".*:calls=(\\d+),.*", "$1")))
        .sum();
  }

  /** All keys of the namespace. */
  public List<String> keys() {
    try (var admin = TestServers.redis()) {
      return admin.sync().keys("{" + namespace + ":*").stream().sorted().toList();
    }
  }

  @Override
  public void close() {
    keys().forEach(key -> redis.sync().del(bytes(key)));
    redis.close();
    connector.close();
  }
}

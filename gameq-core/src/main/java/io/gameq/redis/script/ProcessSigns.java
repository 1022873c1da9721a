package io.gameq.redis.script;

import static io.gameq.redis.script.LuaScript.utf8;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What node and writer processes of a namespace say of themselves, for operators: nothing else
 * depends on it. Found by an index, at a cost that grows with the number of processes. Immutable.
 */
public final class ProcessSigns {
  private static final LuaScript SCRIPT = LuaScript.of(ProcessSigns.class, "sign.lua");
  private static final LuaScript SIGNS = LuaScript.of(ProcessSigns.class, "signs.lua");

  public static final String NODE = "node";
  public static final String WRITER = "writer";

  /** Which kind of process it is, among the fields. */
  private static final String KIND = "kind";

  /** By how much its host's clock is ahead, among the fields. */
  private static final String AHEAD = "ahead";

  /** What a process that is gone said last is still there after a weekend and some holidays. */
  static final int KEPT_SECONDS = (int) TimeUnit.DAYS.toSeconds(7);

  /**
   * Of those that run and those that are gone, which is worth most to know: a start that fails
   * every minute makes as many in a week. Those that have been silent for longest go.
   */
  static final int MOST = 10_000;

  /** Of one call, while which Redis does nothing else. */
  private static final int AT_ONCE = 200;

  private final String namespace;

  public ProcessSigns(String namespace) {
    this.namespace = namespace;
  }

  /**
   * What a process said of itself, and when. Immutable.
   *
   * @param id of this start of the process, 8 hex digits
   * @param silentMillis how long ago it said so, by the clock of Redis
   * @param beat the sign of life that it gives as a node: {@link Beat#NONE} where it gives none
   * @param fields what it said, by name
   */
  public record ProcessSign(String id, long silentMillis, Beat beat, Map<String, String> fields) {
    /** The sign of life of a node. */
    public enum Beat {
      NONE,
      /** It has not healed on this Redis, which may not know its sessions. */
      UNHEALED,
      HEALED
    }

    public ProcessSign {
      fields = Map.copyOf(fields);
    }

    /** {@link #NODE} or {@link #WRITER}. */
    public String kind() {
      return fields.getOrDefault(KIND, "");
    }

    /**
     * By how much the clock of its host was ahead of Redis' when it said so, ms; negative when it
     * was behind, or Redis took long to hear it.
     */
    public long aheadMillis() {
      return Long.parseLong(fields.getOrDefault(AHEAD, "0"));
    }

    /** Whether it said something lately. */
    public boolean isFresh() {
      return silentMillis < NodeSigns.LIFE_SECONDS * 1_000L;
    }
  }

  /** {@code process:<id>}, {@code processes} or {@code clock}. */
  private byte[] key(String name) {
    return SlotKeys.bytes(namespace + ":" + name);
  }

  /**
   * A process says how it is; what it said before is forgotten. Also at maxmemory.
   *
   * @param id of this start of the process, 8 hex digits
   * @return whether Redis still knew what it said before
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public boolean tell(RedisConnection redis, String id, String kind, Map<String, String> fields) {
    return tell(redis, id, kind, fields, System.currentTimeMillis());
  }

  /** The same from a host whose clock says so, ms. */
  boolean tell(
      RedisConnection redis, String id, String kind, Map<String, String> fields, long clockMillis) {
    List<byte[]> said = new ArrayList<>();
    fields.forEach((name, value) -> said.addAll(List.of(utf8(name), utf8(value))));
    List<Object> reply =
        SCRIPT.call(
            redis,
            new byte[][] {key("process:" + id), key("processes"), key("clock")},
            utf8(id),
            KEPT_SECONDS,
            MOST,
            Long.toString(clockMillis),
            said,
            KIND,
            kind);
    return (long) reply.get(0) == 1;
  }

  /**
   * By how much Redis' clock is behind what it was when a process said something, ms; 0 when it is
   * not. It went back, or another server took over: what was to happen by the clock before, and was
   * not brought forward, comes so much later.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public long clockBehindMillis(RedisConnection redis) {
    byte[] latest = RedisReply.await(() -> redis.sync().get(key("clock")));
    return latest == null
        ? 0
        : Math.max(0, Long.parseLong(LuaScript.string(latest)) - RedisClock.now(redis));
  }

  /**
   * A process is gone, and nothing of it is to be seen to any more; returns whether it was known.
   */
  public boolean forget(RedisConnection redis, String id) {
    long unused = RedisReply.await(() -> redis.sync().del(key("process:" + id)));
    return RedisReply.await(() -> redis.sync().zrem(key("processes"), utf8(id))) > 0;
  }

  /**
   * What all processes said, those that have been silent for longest before the others; also of
   * those that are gone and did not say so.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public List<ProcessSign> all(RedisConnection redis) {
    byte[][] keys = {key("processes"), key("process:"), NodeSigns.key(namespace, "")};
    List<ProcessSign> all = new ArrayList<>();
    int some = AT_ONCE;
    for (int from = 0; some == AT_ONCE; from += AT_ONCE) {
      List<Object> signs = SIGNS.call(redis, keys, from, from + AT_ONCE - 1);
      signs.stream()
          .map(of -> sign((List<?>) of))
          .filter(of -> !of.fields().isEmpty())
          .forEach(all::add);
      some = signs.size();
    }
    return all;
  }

  private static ProcessSign sign(List<?> of) {
    String beat = LuaScript.string(of.get(2));
    List<?> said = (List<?>) of.get(3);
    Map<String, String> fields = new LinkedHashMap<>();
    for (int i = 0; i < said.size(); i += 2) {
      fields.put(text(said.get(i)), text(said.get(i + 1)));
    }
    return new ProcessSign(
        LuaScript.string(of.get(0)),
        (Long) of.get(1),
        beat.isEmpty()
            ? ProcessSign.Beat.NONE
            : beat.endsWith(NodeSigns.UNHEALED)
                ? ProcessSign.Beat.UNHEALED
                : ProcessSign.Beat.HEALED,
        fields);
  }

  private static String text(Object reply) {
    return new String((byte[]) reply, UTF_8);
  }
}

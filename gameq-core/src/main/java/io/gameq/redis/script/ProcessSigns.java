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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * What node and writer processes of a namespace say of themselves, for operators: nothing else
 * depends on it. Found by an index, at a cost that grows with the number of processes. Immutable.
 */
public final class ProcessSigns {
  private static final LuaScript SCRIPT = LuaScript.of(ProcessSigns.class, "sign.lua");

  public static final String NODE = "node";
  public static final String WRITER = "writer";

  /** Which kind of process it is, among the fields. */
  private static final String KIND = "kind";

  /** What a process that is gone said last is still there after a weekend and some holidays. */
  static final int KEPT_SECONDS = (int) TimeUnit.DAYS.toSeconds(7);

  /** Far more than a game has; those that have been silent for longest go. */
  static final int MOST = 1_000;

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

    /** Whether it said something lately. */
    public boolean isFresh() {
      return silentMillis < NodeSigns.LIFE_SECONDS * 1_000L;
    }
  }

  private byte[] key(String id) {
    return SlotKeys.bytes(namespace + ":process:" + id);
  }

  private byte[] index() {
    return SlotKeys.bytes(namespace + ":processes");
  }

  /**
   * A process says how it is; what it said before is forgotten. Also at maxmemory.
   *
   * @param id of this start of the process, 8 hex digits
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public void tell(RedisConnection redis, String id, String kind, Map<String, String> fields) {
    List<byte[]> said = new ArrayList<>();
    fields.forEach((name, value) -> said.addAll(List.of(utf8(name), utf8(value))));
    List<Object> unused =
        SCRIPT.call(
            redis,
            new byte[][] {key(id), index(), clock()},
            utf8(id),
            KEPT_SECONDS,
            MOST,
            said,
            KIND,
            kind);
  }

  private byte[] clock() {
    return SlotKeys.bytes(namespace + ":clock");
  }

  /**
   * By how much Redis' clock is behind what it was when a process said something, ms; 0 when it is
   * not. It went back, or another server took over: what was to happen by the clock before, and was
   * not brought forward, comes so much later.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public long clockBehindMillis(RedisConnection redis) {
    byte[] latest = RedisReply.await(() -> redis.sync().get(clock()));
    return latest == null
        ? 0
        : Math.max(0, Long.parseLong(LuaScript.string(latest)) - RedisClock.now(redis));
  }

  /**
   * A process is gone, and nothing of it is to be seen to any more; returns whether it was known.
   */
  public boolean forget(RedisConnection redis, String id) {
    long unused = RedisReply.await(() -> redis.sync().del(key(id)));
    return RedisReply.await(() -> redis.sync().zrem(index(), LuaScript.utf8(id))) > 0;
  }

  /**
   * What all processes said, those that started first before the others; also of those that are
   * gone and did not say so.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public List<ProcessSign> all(RedisConnection redis) {
    long now = RedisClock.now(redis);
    List<Supplier<ProcessSign>> asked = new ArrayList<>();
    RedisReply.await(() -> redis.sync().zrangeWithScores(index(), 0, -1))
        .forEach(
            of -> {
              String id = new String(of.getValue(), UTF_8);
              long silentMillis = Math.max(0, now - (long) of.getScore());
              CompletionStage<Map<byte[], byte[]>> fields = redis.async().hgetall(key(id));
              CompletionStage<byte[]> beat = redis.async().get(NodeSigns.key(namespace, id));
              asked.add(() -> sign(id, silentMillis, fields, beat));
            });
    return asked.stream().map(Supplier::get).filter(of -> !of.fields().isEmpty()).toList();
  }

  private static ProcessSign sign(
      String id,
      long silentMillis,
      CompletionStage<Map<byte[], byte[]>> fields,
      CompletionStage<byte[]> beat) {
    Map<String, String> said = new LinkedHashMap<>();
    RedisReply.await(fields)
        .forEach((name, value) -> said.put(new String(name, UTF_8), new String(value, UTF_8)));
    byte[] sign = RedisReply.await(beat);
    return new ProcessSign(
        id,
        silentMillis,
        sign == null
            ? ProcessSign.Beat.NONE
            : LuaScript.string(sign).endsWith(NodeSigns.UNHEALED)
                ? ProcessSign.Beat.UNHEALED
                : ProcessSign.Beat.HEALED,
        said);
  }
}

package io.gameq.redis.script;

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
import org.jspecify.annotations.Nullable;

/**
 * What node and writer processes of a namespace say of themselves, for operators: nothing else
 * depends on it. Found by an index, at a cost that grows with the number of processes. Immutable.
 */
public final class ProcessSigns {
  public static final String NODE = "node";
  public static final String WRITER = "writer";

  /** What a process that is gone said last is still there after a weekend and some holidays. */
  static final int KEPT_SECONDS = (int) TimeUnit.DAYS.toSeconds(7);

  /** Far more than a game has; those that have been silent for longest go. */
  static final int MOST = 1_000;

  private final String namespace;

  public ProcessSigns(String namespace) {
    this.namespace = namespace;
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
    Map<String, String> all = new LinkedHashMap<>(fields);
    all.put(ProcessSign.KIND, kind);
    SignScript.call(redis, new byte[][] {key(id), index(), clock()}, id, all);
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
    List<Asked> asked = new ArrayList<>();
    RedisReply.await(() -> redis.sync().zrangeWithScores(index(), 0, -1))
        .forEach(
            of -> {
              String id = new String(of.getValue(), UTF_8);
              long silent = Math.max(0, now - (long) of.getScore());
              asked.add(
                  new Asked(
                      id,
                      silent,
                      redis.async().hgetall(key(id)),
                      redis.async().get(NodeSigns.key(namespace, id))));
            });
    return asked.stream().map(Asked::await).filter(of -> !of.fields().isEmpty()).toList();
  }

  private record Asked(
      String id,
      long silentMillis,
      CompletionStage<Map<byte[], byte[]>> fields,
      CompletionStage<byte[]> beat) {
    private ProcessSign await() {
      Map<String, String> said = new LinkedHashMap<>();
      RedisReply.await(fields)
          .forEach((name, value) -> said.put(new String(name, UTF_8), new String(value, UTF_8)));
      return new ProcessSign(id, silentMillis, beatOf(RedisReply.await(beat)), said);
    }

    private static ProcessSign.Beat beatOf(byte @Nullable [] sign) {
      if (sign == null) {
        return ProcessSign.Beat.NONE;
      }
      return LuaScript.string(sign).endsWith(NodeSigns.UNHEALED)
          ? ProcessSign.Beat.UNHEALED
          : ProcessSign.Beat.HEALED;
    }
  }
}

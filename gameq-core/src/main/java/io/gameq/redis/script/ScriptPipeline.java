package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.lettuce.core.ScriptOutputType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** Sends many calls of a script before it waits for the first reply. One thread. */
public final class ScriptPipeline {
  private final RedisConnection connection;
  private final int timeoutMillis;
  private final Map<LuaScript, String> loaded = new HashMap<>();

  /**
   * A pipeline.
   *
   * @param timeoutMillis how long to wait for each reply
   */
  public ScriptPipeline(RedisConnection connection, int timeoutMillis) {
    this.connection = connection;
    this.timeoutMillis = timeoutMillis;
  }

  /** A script call that was sent. */
  public record Sent(CompletionStage<List<Object>> reply) {}

  /** Sends several script calls in one go. */
  public List<Sent> send(LuaScript script, List<Call> calls) {
    String sha1 =
        loaded.computeIfAbsent(
            script, s -> RedisReply.await(() -> connection.sync().scriptLoad(s.text())));
    List<Sent> sent = new ArrayList<>(calls.size());
    connection.inOneGo(
        () -> {
          for (Call call : calls) {
            sent.add(
                new Sent(
                    connection
                        .async()
                        .evalsha(sha1, ScriptOutputType.MULTI, call.keys(), call.arguments())));
          }
        });
    return sent;
  }

  /** KEYS and ARGV of a call. */
  public record Call(byte[][] keys, byte[][] arguments) {}

  /**
   * Waits for a reply.
   *
   * @throws io.gameq.GameQueueException when Redis refuses
   * @throws io.gameq.RedisUnavailableException when it does not answer
   */
  public List<Object> await(Sent sent) {
    return RedisReply.await(sent.reply(), timeoutMillis);
  }
}

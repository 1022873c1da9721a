package io.gameq.redis.script;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScriptOutputType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

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
  public record Sent(Future<List<Object>> reply) {}

  /** Sends several script calls in one go. */
  public List<Sent> send(LuaScript script, List<Call> calls) {
    String sha1 =
        loaded.computeIfAbsent(
            script, s -> RedisReply.await(() -> connection.sync().scriptLoad(s.text())));
    List<Sent> sent = new ArrayList<>(calls.size());
    connection.flushesByItself(false);
    try {
      for (Call call : calls) {
        sent.add(
            new Sent(
                connection
                    .async()
                    .evalsha(sha1, ScriptOutputType.MULTI, call.keys(), call.arguments())));
      }
      connection.flush();
    } catch (RedisException e) {
      throw new RedisUnavailableException("Redis does not answer: " + e.getMessage(), e);
    } finally {
      connection.flushesByItself(true);
    }
    return sent;
  }

  /** KEYS and ARGV of a call. */
  public record Call(byte[][] keys, byte[][] arguments) {}

  /**
   * Waits for a reply.
   *
   * @throws GameQueueException when Redis refuses
   * @throws RedisUnavailableException when it does not answer
   */
  public List<Object> await(Sent sent) {
    try {
      return sent.reply().get(timeoutMillis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RedisCommandExecutionException refused) {
        String message = String.valueOf(refused.getMessage());
        throw new GameQueueException(
            message.contains("OOM")
                ? "Redis reached maxmemory: let the writers drain, or raise maxmemory, then run"
                    + " this again"
                : "Redis refused: " + message,
            e);
      }
      throw new RedisUnavailableException("Redis does not answer: " + e.getCause(), e);
    } catch (TimeoutException e) {
      throw new RedisUnavailableException(
          "Redis did not answer for " + timeoutMillis / 1000 + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new GameQueueException("interrupted", e);
    }
  }
}

package io.gameq.redis.script;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** Sends many calls of a script before it waits for the first reply. One thread. */
public final class ScriptPipeline {
  private final RedisConnection connection;
  private final int timeoutMillis;
  private final Set<LuaScript> loaded = new HashSet<>();

  /**
   * A pipeline.
   *
   * @param timeoutMillis how long to wait for each reply
   */
  public ScriptPipeline(RedisConnection connection, int timeoutMillis) {
    this.connection = connection;
    this.timeoutMillis = timeoutMillis;
  }

  /** Sends several script calls in one go; their replies in order. */
  List<CompletionStage<List<Object>>> send(LuaScript script, List<Call> calls) {
    if (!loaded.contains(script)) {
      script.load(connection);
      loaded.add(script);
    }
    List<CompletionStage<List<Object>>> sent = new ArrayList<>(calls.size());
    connection.inOneGo(
        () -> calls.forEach(of -> sent.add(script.send(connection, of.keys, of.arguments))));
    return sent;
  }

  /** KEYS and ARGV of a call. */
  record Call(byte[][] keys, byte[][] arguments) {}

  /**
   * Waits for a reply.
   *
   * @throws io.gameq.GameQueueException when Redis refuses
   * @throws io.gameq.RedisUnavailableException when it does not answer
   */
  List<Object> await(CompletionStage<List<Object>> sent) {
    return RedisReply.await(sent, timeoutMillis);
  }
}

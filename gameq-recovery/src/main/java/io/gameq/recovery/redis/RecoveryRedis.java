package io.gameq.recovery.redis;

import io.gameq.GameQueueException;
import io.gameq.OwnerId;
import io.gameq.RedisUnavailableException;
import io.gameq.redis.LuaScript;
import io.gameq.redis.NodeHeartbeat;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisReply;
import io.gameq.redis.RedisServerCheck;
import io.gameq.redis.SlotKeys;
import io.gameq.term.Terms;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** One connection to Redis, on which scripts are sent many at a time. One thread. */
public final class RecoveryRedis implements AutoCloseable {
  /** Large scripts may follow one another, each within this. */
  private static final int TIMEOUT_MILLIS = 30_000;

  private final RedisConnector connector;
  private final StatefulRedisConnection<byte[], byte[]> connection;
  private final Map<LuaScript, String> loaded = new HashMap<>();
  private final SlotKeys[] slots;
  private final String namespace;
  private final String version;
  private final PrimaryConnector primary;
  private final PrimaryConnector.Opened opened;

  /** A script call that was sent. */
  record Sent(Future<List<Object>> reply) {}

  private RecoveryRedis(
      RedisConnector connector,
      PrimaryConnector primary,
      PrimaryConnector.Opened opened,
      String version,
      String namespace,
      int slots) {
    this.connector = connector;
    this.primary = primary;
    this.connection = opened.redis();
    this.opened = opened;
    this.version = version;
    this.namespace = namespace;
    this.slots = SlotKeys.all(namespace, slots);
  }

  /**
   * Connects.
   *
   * @param terms says which primary counts
   * @throws GameQueueException when Redis is away, refuses the login, is none that gameq runs on,
   *     or was demoted
   */
  public static RecoveryRedis open(
      String uri, @Nullable String password, String namespace, int slots, Terms terms) {
    RedisConnector connector = new RedisConnector(new RedisConfig(uri, password, TIMEOUT_MILLIS));
    try {
      PrimaryConnector primary = new PrimaryConnector(connector, terms);
      PrimaryConnector.Opened opened = primary.openForTool();
      String version = RedisReply.await(() -> RedisServerCheck.check(opened.redis())).version();
      return new RecoveryRedis(connector, primary, opened, version, namespace, slots);
    } catch (RuntimeException e) {
      connector.close();
      throw e;
    }
  }

  /**
   * Makes sure that what was written here since the connection was opened is where it counts.
   *
   * @throws io.gameq.term.TermMovedException when another primary took over meanwhile
   */
  public void requireSameTerm() {
    primary.requireSame(opened);
  }

  /** The server's name and version. */
  public String version() {
    return version;
  }

  /** The node of which this process is alive, null when it gave no sign of life for 15 s. */
  public @Nullable String aliveNode(String process) {
    return NodeHeartbeat.aliveNode(connection, namespace, process);
  }

  StatefulRedisConnection<byte[], byte[]> connection() {
    return connection;
  }

  String namespace() {
    return namespace;
  }

  SlotKeys slot(OwnerId owner) {
    return slots[owner.slot(slots.length)];
  }

  /** Sends several script calls in one go. */
  List<Sent> send(LuaScript script, List<Call> calls) {
    String sha1 =
        loaded.computeIfAbsent(
            script, s -> RedisReply.await(() -> connection.sync().scriptLoad(s.text())));
    List<Sent> sent = new ArrayList<>(calls.size());
    connection.setAutoFlushCommands(false);
    try {
      for (Call call : calls) {
        sent.add(
            new Sent(
                connection
                    .async()
                    .evalsha(sha1, ScriptOutputType.MULTI, call.keys(), call.arguments())));
      }
      connection.flushCommands();
    } catch (RedisException e) {
      throw new RedisUnavailableException("Redis does not answer: " + e.getMessage(), e);
    } finally {
      connection.setAutoFlushCommands(true);
    }
    return sent;
  }

  /** KEYS and ARGV of a call. */
  record Call(byte[][] keys, byte[][] arguments) {}

  /**
   * Waits for a reply.
   *
   * @throws GameQueueException when Redis refuses
   * @throws RedisUnavailableException when it does not answer
   */
  static List<Object> await(Sent sent) {
    try {
      return sent.reply().get(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RedisCommandExecutionException refused) {
        String message = String.valueOf(refused.getMessage());
        throw new GameQueueException(
            message.contains("OOM")
                ? "Redis reached maxmemory: let the writers drain, or raise maxmemory, then run this again"
                : "Redis refused: " + message,
            e);
      }
      throw new RedisUnavailableException("Redis does not answer: " + e.getCause(), e);
    } catch (TimeoutException e) {
      throw new RedisUnavailableException(
          "Redis did not answer for " + TIMEOUT_MILLIS / 1000 + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new GameQueueException("interrupted", e);
    }
  }

  @Override
  public void close() {
    connection.close();
    connector.close();
  }
}

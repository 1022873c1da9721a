package io.gameq.recovery.redis;

import io.gameq.owner.OwnerId;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisReply;
import io.gameq.redis.RedisServerCheck;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.NodeSigns;
import io.gameq.redis.script.ScriptPipeline;
import io.gameq.term.Terms;
import org.jspecify.annotations.Nullable;

/** One connection to Redis, on which scripts are sent many at a time. One thread. */
public final class RecoveryRedis implements AutoCloseable {
  /** Large scripts may follow one another, each within this. */
  public static final int TIMEOUT_MILLIS = 30_000;

  private final RedisConnector connector;
  private final RedisConnection connection;
  private final ScriptPipeline pipeline;
  private final SlotKeys[] slots;
  private final String namespace;
  private final String version;
  private final PrimaryConnector primary;
  private final PrimaryConnector.Opened opened;

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
    this.pipeline = new ScriptPipeline(connection, TIMEOUT_MILLIS);
    this.opened = opened;
    this.version = version;
    this.namespace = namespace;
    this.slots = SlotKeys.all(namespace, slots);
  }

  /**
   * Connects.
   *
   * @param config with {@link #TIMEOUT_MILLIS}
   * @param terms says which primary counts
   * @throws io.gameq.GameQueueException when Redis is away, refuses the login, is none that gameq
   *     runs on, or was demoted
   */
  public static RecoveryRedis open(RedisConfig config, String namespace, int slots, Terms terms) {
    RedisConnector connector = new RedisConnector(config);
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
    return NodeSigns.aliveNode(connection, namespace, process);
  }

  RedisConnection connection() {
    return connection;
  }

  String namespace() {
    return namespace;
  }

  public SlotKeys slot(OwnerId owner) {
    return slots[owner.slot(slots.length)];
  }

  /** For scripts that are called many times at once. */
  public ScriptPipeline pipeline() {
    return pipeline;
  }

  public SlotKeys[] slots() {
    return slots;
  }

  @Override
  public void close() {
    connection.close();
    connector.close();
  }
}

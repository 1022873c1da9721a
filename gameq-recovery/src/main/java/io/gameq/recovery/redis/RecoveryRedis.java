package io.gameq.recovery.redis;

import io.gameq.GameQueueException;
import io.gameq.healing.Lookups.ReplayRedis;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisReply;
import io.gameq.redis.RedisServerCheck;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LookupScript.ReplayScript;
import io.gameq.redis.script.NodeSigns;
import io.gameq.redis.script.NodeSigns.OpenOwners;
import io.gameq.redis.script.SessionScripts;
import io.gameq.term.Terms;
import org.jspecify.annotations.Nullable;

/** Recovery's connection to Redis, and opening an owner so that a conflict can be applied. */
public final class RecoveryRedis implements AutoCloseable {
  /** Rows of the session before wait no longer than a game's usual commits. */
  private static final long MERGE_WINDOW_MILLIS = 1_000;

  private final RedisConnector connector;
  private final PrimaryConnector primary;
  private final PrimaryConnector.Opened opened;
  private final ReplayRedis redis;

  private RecoveryRedis(RedisConnector connector, String namespace, int slots, Terms terms) {
    this.connector = connector;
    this.primary = new PrimaryConnector(connector, terms);
    this.opened = primary.openForTool();
    var unused = RedisReply.await(() -> RedisServerCheck.check(opened.redis()));
    this.redis = new ReplayRedis(opened.redis(), namespace, SlotKeys.all(namespace, slots));
  }

  /**
   * Connects.
   *
   * @param config with {@link ReplayScript#TIMEOUT_MILLIS}
   * @param terms says which primary counts
   * @throws GameQueueException when Redis is away, refuses the login, is none that gameq runs on,
   *     or was demoted
   */
  public static RecoveryRedis open(RedisConfig config, String namespace, int slots, Terms terms) {
    RedisConnector connector = new RedisConnector(config);
    try {
      return new RecoveryRedis(connector, namespace, slots, terms);
    } catch (RuntimeException e) {
      connector.close();
      throw e;
    }
  }

  /** For a replay. One thread. */
  public ReplayRedis redis() {
    return redis;
  }

  /**
   * Makes sure that what was written here since the connection was opened is where it counts.
   *
   * @throws io.gameq.term.Term.TermMovedException when another primary took over meanwhile
   */
  public void requireSameTerm() {
    primary.requireSame(opened);
  }

  /**
   * The node that is alive and has the owner open, or has yet to tell Redis again that it has; null
   * when none has.
   */
  public @Nullable String liveHolder(OwnerId owner, CountingSessions durable) {
    SessionId holder =
        redis.ownedBy(owner) == null
            ? durable.holder(null)
            : OpenOwners.session(redis.connection(), redis.slot(owner), owner, durable);
    return holder == null ? null : redis.aliveNode(NodeSigns.process(holder));
  }

  /**
   * Makes the session the owner's in Redis; it adopts what the session before left dirty.
   *
   * @throws GameQueueException when a newer session owns: then nothing was changed
   */
  public void open(OwnerId owner, SessionId session) {
    SessionScripts.Outcome outcome =
        SessionScripts.open(
            redis.connection(), redis.slot(owner), owner, session, MERGE_WINDOW_MILLIS, false);
    if (outcome instanceof SessionScripts.Refused refused) {
      throw new GameQueueException(
          "session " + refused.ownedBy() + " opened " + owner.id() + " at the same moment");
    }
  }

  @Override
  public void close() {
    redis.connection().close();
    connector.close();
  }
}

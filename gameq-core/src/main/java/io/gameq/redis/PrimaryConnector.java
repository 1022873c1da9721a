package io.gameq.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.GameQueueException;
import io.gameq.redis.RedisConnector.Sentinels;
import io.gameq.sign.Protocol;
import io.gameq.term.Term;
import io.gameq.term.Term.Primary;
import io.gameq.term.Term.TermMovedException;
import io.gameq.term.Terms;
import io.gameq.term.Terms.QueueIdentity;
import io.lettuce.core.RedisException;
import io.lettuce.core.SetArgs;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens connections to the primary that counts by the {@linkplain io.gameq.term term} in MySQL, and
 * moves the term on when it finds that another took over. Thread-safe.
 */
public final class PrimaryConnector {
  private static final Logger LOG = LoggerFactory.getLogger(PrimaryConnector.class);

  /** Another process that comes at the same moment costs one. */
  private static final int MOST_TRIES = 3;

  private static final long SIGN_EVERY_MILLIS = 3_000;

  private final RedisConnector connector;
  private final Terms terms;
  private final AtomicBoolean warned = new AtomicBoolean();

  public PrimaryConnector(RedisConnector connector, Terms terms) {
    this.connector = connector;
    this.terms = terms;
  }

  /**
   * A new connection.
   *
   * @param runId the server's: another one after a failover or a restart
   * @param term the number of the term that its primary has, {@link Term#NOT_KNOWN} when the server
   *     hides who it is, or MySQL is not asked for it
   * @param sinceNanos when it was asked for, by System.nanoTime
   */
  public record Opened(
      RedisConnection redis, String runId, String address, long term, long sinceNanos) {}

  /**
   * Connects.
   *
   * @throws TermMovedException when the server does not count (any more)
   * @throws io.gameq.GameQueueException when Redis or MySQL is away, it is none that gameq runs on,
   *     or belongs to another database
   */
  public Opened open() {
    long sinceNanos = System.nanoTime();
    terms.requireAgreed();
    for (int tries = 1; ; tries++) {
      Term before = terms.current();
      Seen seen = see(connector);
      try {
        QueueIdentity identity = terms.identity();
        boolean isNoted = RedisIdentity.require(seen.redis, identity);
        long term = terms.settle(before, seen.primary);
        if (!seen.primary.isKnown() && !warned.getAndSet(true)) {
          LOG.warn(
              "Redis at {} does not tell its run_id: two primaries after a failover cannot be told"
                  + " apart",
              seen.primary.address());
        }
        if (!isNoted) { // once it counts
          RedisIdentity.note(seen.redis, identity);
        }
        return seen.opened(term, sinceNanos);
      } catch (RuntimeException e) {
        seen.redis.closeSoon();
        if (!(e instanceof TermMovedException) || tries == MOST_TRIES) {
          throw e;
        }
      }
    }
  }

  private static Primary primary(RedisConnector.Reached reached) {
    RedisServerCheck.Server server = RedisServerCheck.check(reached.redis());
    return primary(server, reached.address(), reached.sentinelEpoch());
  }

  private static Primary primary(RedisServerCheck.Server server, String address, long epoch) {
    return new Primary(server.runId(), server.replId(), server.formerReplId(), address, epoch);
  }

  /**
   * Connects for a tool, which moves no term: to the primary that counts, or one that may take over
   * yet; its term is the current one. Throws as {@link #open}.
   */
  public Opened openForTool() {
    long sinceNanos = System.nanoTime();
    Term before = terms.current();
    Seen seen = see(connector);
    try {
      boolean unused = RedisIdentity.require(seen.redis, terms.identity());
      before.refuseDemoted(seen.primary);
      return seen.opened(before.number(), sinceNanos);
    } catch (RuntimeException e) {
      seen.redis.closeSoon();
      throw e;
    }
  }

  /**
   * Refuses the server of a connector when it is another database's, or does not count; passes
   * where that cannot be told, since it is away or none that gameq runs on.
   *
   * @throws TermMovedException when it does not count
   * @throws GameQueueException when it is another database's
   */
  public static void refuseOther(RedisConnector connector, QueueIdentity database, Term term) {
    RedisConnector.Reached reached;
    try {
      reached = connector.reach();
    } catch (GameQueueException e) {
      return;
    }
    try (RedisConnection redis = reached.redis()) {
      boolean unused = RedisIdentity.require(redis, database);
      Primary primary;
      try {
        primary = primary(reached);
      } catch (GameQueueException e) {
        return;
      }
      term.refuseDemoted(primary);
    }
  }

  /**
   * Who a server says it is, over a connection that stays open; throws as {@link #open}, and moves
   * no term.
   */
  public static Seen see(RedisConnector connector) {
    RedisConnector.Reached reached = connector.reach();
    try {
      return new Seen(reached.redis(), primary(reached));
    } catch (RuntimeException e) {
      reached.redis().closeSoon();
      throw e;
    }
  }

  /** A server, whether or not it counts. */
  public record Seen(RedisConnection redis, Primary primary) {
    private Opened opened(long term, long sinceNanos) {
      return new Opened(redis, primary.runId(), primary.address(), term, sinceNanos);
    }
  }

  /**
   * Makes sure that no other primary took over since a tool connected.
   *
   * @throws TermMovedException when one did
   */
  public void requireSame(Opened opened) {
    Term now = terms.current();
    if (now.number() != opened.term() && !now.runId().equals(opened.runId())) {
      throw new TermMovedException(
          "another Redis primary took over meanwhile, as number %s: run this again"
              .formatted(now.number()));
    }
  }

  /** In which formats this process is to write, as MySQL said last. */
  public Protocol protocol() {
    return terms.protocol();
  }

  /** The number of the term, by MySQL. */
  public long term() {
    return terms.current().number();
  }

  /**
   * Whether a connection of this term is still right: by MySQL's term, and by Sentinel where there
   * is one. To be asked every second or so.
   *
   * @throws io.gameq.GameQueueException when they cannot be asked
   */
  public boolean isCurrent(long term, String address) {
    Term now = terms.current();
    if (!Term.counts(term, now.number())) {
      return false;
    }
    if (connector.hasSentinels()) {
      Sentinels.Named named = connector.namedBySentinel();
      return named.epoch() < now.sentinelEpoch() || named.address().equals(address);
    }
    return true;
  }

  /**
   * Gives a sign of life of the term's primary; to be called every second or so.
   *
   * @param asked who answers over any connection of which it is not known whether it leads there
   * @throws io.gameq.GameQueueException when one of the servers does not answer
   */
  public void giveSign(Supplier<RedisServerCheck.Server> asked) {
    Term now = terms.current();
    if (now.number() > 0 && now.silentMillis() >= SIGN_EVERY_MILLIS) {
      RedisServerCheck.Server server = asked.get();
      if (server.runId().equals(now.runId())) {
        terms.alive(now, primary(server, now.addresses().get(0), Primary.NO_SENTINEL));
      }
    }
  }

  /**
   * The identity of the queue in Redis, at {@code <namespace>:database}: whoever connects first
   * notes that of MySQL there, and others compare. A writer between the MySQL of one environment
   * and the Redis of another would write rows into the wrong database, and acknowledge them. Beside
   * it a copy of the protocol, once it was raised: MySQL decides, but one that was restored from
   * before a raise does not know in which formats rows wait here. Stateless.
   */
  public static final class RedisIdentity {
    private RedisIdentity() {}

    /**
     * Passes where Redis belongs to the database, or to none yet, and this build speaks its
     * protocol.
     *
     * @return whether it says so, or nobody is to be told
     * @throws GameQueueException naming both, with the remedy
     */
    public static boolean require(RedisConnection redis, QueueIdentity ours) {
      if (ours.namespace().isEmpty() || ours.database().isEmpty()) {
        return true;
      }
      String there = read(redis, key(ours));
      if (there != null && !there.equals(ours.database())) {
        throw new GameQueueException(
            ("this Redis holds what is to be written into database %s, and MySQL is database %s,"
                 + " perhaps a clone: correct the address of one of them. Where MySQL takes the"
                 + " place of that database, as a restored backup does, run: gameq-writer schema"
                 + " new-identity --as %s. Where both are copies, and nobody else uses this Redis:"
                 + " redis-cli SET %s:database %s")
                .formatted(there, ours.database(), there, ours.namespace(), ours.database()));
      }
      Protocol protocol =
          Protocol.of(read(redis, protocolKey(ours))).requireSpoken("what this Redis holds");
      return there != null && protocol.version() >= ours.protocol().version();
    }

    private static @Nullable String read(RedisConnection redis, byte[] key) {
      byte[] value = RedisReply.await(() -> redis.sync().get(key));
      return value == null ? null : new String(value, US_ASCII);
    }

    /**
     * Notes that Redis belongs to the database, unless somebody else was quicker: then as {@link
     * #require}. One that takes no writes now, since it is full or lacks replicas, notes it later.
     */
    public static void note(RedisConnection redis, QueueIdentity ours) {
      try {
        String unused =
            redis.sync().set(key(ours), SlotKeys.bytes(ours.database()), SetArgs.Builder.nx());
        if (ours.protocol().version() > Protocol.FIRST.version()) {
          unused = redis.sync().set(protocolKey(ours), SlotKeys.bytes(ours.protocol().text()));
        }
      } catch (RedisException e) {
        if (RedisReply.answered(e) == null) {
          throw RedisReply.exception(e);
        }
      }
      boolean unused = require(redis, ours);
    }

    private static byte[] key(QueueIdentity queue) {
      return SlotKeys.bytes(queue.namespace() + ":database");
    }

    private static byte[] protocolKey(QueueIdentity queue) {
      return SlotKeys.bytes(queue.namespace() + ":" + Protocol.NAME);
    }
  }
}

package io.gameq.commit;

import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.script.CommitScript;
import io.gameq.redis.script.MessagesScript;
import io.gameq.redis.script.NodeSigns.NodeHeartbeat;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Makes the sender's connections to Redis, and remembers those that it gave up: their last bytes
 * may still be on their way. Used by the sender's thread; what it tells of the last connection is
 * asked by any.
 */
final class SenderLink {
  /** Of servers that were connected to since; far more than a failover takes attempts. */
  private static final int MOST_REMEMBERED = 1_000;

  /** The run id of a server that hides it. */
  private static final String UNKNOWN = "";

  private final PrimaryConnector primary;
  private final RedisClock clock;
  private final NodeHeartbeat heartbeat;
  private final Set<Link> givenUp = new LinkedHashSet<>();
  private volatile Link link = new Link(UNKNOWN, 0, 0, "", 0, 0);

  /**
   * A connection.
   *
   * @param clientId as the server knows it
   * @param sinceNanos when it began to be made, by System.nanoTime
   * @param number how many were made, with this one
   */
  private record Link(
      String runId, long clientId, long term, String address, long sinceNanos, long number) {}

  SenderLink(PrimaryConnector primary, RedisClock clock, NodeHeartbeat heartbeat) {
    this.primary = primary;
    this.clock = clock;
    this.heartbeat = heartbeat;
  }

  /** Connects to a server that gameq can run on, giving up the connection before. */
  RedisConnection connect() {
    giveUp();
    long now = System.nanoTime();
    PrimaryConnector.Opened opened = primary.open();
    RedisConnection connection = opened.redis();
    try {
      long unused = clock.measure(connection);
      CommitScript.load(connection); // a script that had to be sent again might arrive late
      MessagesScript.load(connection);
      link =
          new Link(
              opened.runId(),
              connection.id(),
              opened.term(),
              opened.address(),
              now,
              link.number + 1);
      return connection;
    } catch (RuntimeException e) {
      connection.closeSoon();
      throw e;
    }
  }

  /** A number of a server that hides its run id may be a stranger's on the next: forgotten. */
  private void giveUp() {
    if (link.runId.equals(UNKNOWN)) {
      return;
    }
    givenUp.add(link);
    if (givenUp.size() > MOST_REMEMBERED) {
      givenUp.remove(givenUp.iterator().next());
    }
  }

  /**
   * Makes sure that nothing of connections to this server that were given up is applied any more: a
   * plain HSET among their last bytes would overwrite what is committed from now on. Of a server
   * that hides its run id none are known, and none are ended. Then gives the first sign of life,
   * before anything else is told there.
   */
  void takeOver(RedisConnection redis) {
    for (Iterator<Link> it = givenUp.iterator(); it.hasNext(); ) {
      Link other = it.next();
      if (other.runId.equals(link.runId) && other.clientId != link.clientId) {
        redis.end(other.clientId);
        it.remove();
      }
    }
    heartbeat.beatFirst(redis, link.runId);
  }

  /** The server, by its run id, that the last connection led to. */
  String server() {
    return link.runId;
  }

  /** Whether the last connection leads to the primary that counts; asks MySQL, and Sentinel. */
  boolean isCurrent() {
    Link now = link;
    return primary.isCurrent(now.term, now.address);
  }

  /** The number of the term of the last connection's primary. */
  long term() {
    return link.term;
  }

  /** When it began to connect the last time that it succeeded, by System.nanoTime. */
  long connectedNanos() {
    return link.sinceNanos;
  }

  /** How often it has connected. */
  long connections() {
    return link.number;
  }
}

package io.gameq.node;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.mysql.tables.NodeTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.script.NodeSigns.NodeHeartbeat;
import io.gameq.redis.script.ProcessSigns;
import io.gameq.sign.NodeCounts;
import io.gameq.sign.NodeCounts.CommitOutcome;
import io.gameq.sign.NodeSign;
import io.gameq.sign.ProcessIdentity;
import io.gameq.sign.SignFields;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a node tells Redis of itself: that it is alive, by its heartbeat alone, and how it is, for
 * operators; and MySQL, that it was started, which outlives a Redis that is emptied. Heals when the
 * last heartbeat is gone from Redis. Thread-safe; what it said last is still there when the process
 * was killed.
 */
final class NodeStatus {
  private static final Logger LOG = LoggerFactory.getLogger(NodeStatus.class);

  private final GameNode node;
  private final NodeHeartbeat heartbeat;
  private final ControlConnection ofHeartbeat;
  private final ProcessSigns signs;
  private final NodeTable started;
  private final ProcessIdentity process;
  private boolean ended;

  /** Of a node that has its servers by now; {@code ofHeartbeat} is used by nothing else. */
  NodeStatus(GameNode node, NodeHeartbeat heartbeat, ControlConnection ofHeartbeat) {
    this.node = node;
    this.heartbeat = heartbeat;
    this.ofHeartbeat = ofHeartbeat;
    this.signs = new ProcessSigns(node.config.namespace());
    this.started = new NodeTable(node.servers.mysql());
    this.process = ProcessIdentity.here(node.config.node(), GameQueue.class);
  }

  /** To be called every second; throws GameQueueException when Redis does not take it. */
  void beat() {
    if (!node.isAlive()) {
      takeBack(ofHeartbeat);
      return;
    }
    node.sender.takeAlong(ofHeartbeat);
    if (heartbeat.beat(ofHeartbeat, node.sender::hasHealedOn)) {
      node.sender.healAgain("its sign of life is gone from Redis");
    }
  }

  /** If Redis answers over this connection; else the heartbeat expires. */
  private void takeBack(ControlConnection over) {
    best("take back the sign of life", () -> heartbeat.stop(over));
  }

  /** Before anything is opened; both are told again and again. */
  void begin() {
    try {
      beat();
    } catch (RuntimeException e) {
      LOG.warn("cannot give a sign of life yet: {}", e.toString());
    }
    best("say how this node is", this::tell);
    try {
      started.add(node.process, process, node.wal.directory().toString());
    } catch (GameQueueException e) {
      LOG.warn("cannot note in MySQL that this node was started: {}", e.getMessage());
    }
  }

  /**
   * Says how the node is; to be called every few seconds; throws GameQueueException when Redis does
   * not take it.
   */
  synchronized void tell() {
    if (!ended) {
      say(now());
    }
  }

  private void say(NodeSign sign) {
    Map<String, String> fields = SignFields.of(sign);
    node.servers
        .control()
        .call(
            redis -> {
              signs.tell(redis, node.process, ProcessSigns.NODE, fields);
              return true;
            });
  }

  /**
   * The node ends.
   *
   * @param isKept whether its WAL is kept: else all of it is in MySQL, and nobody needs to know of
   *     it any more
   */
  void end(boolean isKept) {
    synchronized (this) {
      ended = true;
      if (isKept) {
        best("say that the WAL is kept", () -> say(now(NodeSign.CLOSED)));
      } else {
        forget(node.process);
      }
    }
    takeBack(node.servers.control());
  }

  /** What an earlier start of this node left is replayed: nobody needs to see to it any more. */
  void forget(String ofProcess) {
    best(
        "take back what process " + ofProcess + " said",
        () -> node.servers.control().call(redis -> signs.forget(redis, ofProcess)));
    best("note that process " + ofProcess + " is seen to", () -> started.remove(ofProcess));
  }

  private static void best(String what, Runnable call) {
    try {
      call.run();
    } catch (GameQueueException e) {
      LOG.debug("cannot {}: {}", what, e.getMessage());
    }
  }

  /** What the node can say of itself while it runs, without asking a server. */
  NodeSign now() {
    return now(node.isAlive() ? NodeSign.RUNNING : NodeSign.FAILED);
  }

  private NodeSign now(String phase) {
    NodeCounts counts = node.sessions.counts();
    return new NodeSign(
        process,
        phase,
        node.upkeep.mysqlAnswers(),
        new NodeSign.Sessions(node.sessions.open(), counts.sessionsLost()),
        new NodeSign.Commits(
            counts.commits(CommitOutcome.QUEUED),
            counts.rows(),
            counts.merged(),
            node.sender.waiting(),
            node.sender.roomUsed()),
        new NodeSign.Wal(
            node.wal.directory().toAbsolutePath().toString(),
            node.wal.bytesNow(),
            node.config.walLimits().maxBytes(),
            counts.journaled(),
            node.upkeep.oldestMillis()),
        new NodeSign.Healings(
            counts.heals(), counts.healedMillis(), counts.replayed(), counts.conflicts()));
  }
}

package io.gameq.node;

import io.gameq.GameQueueException;
import io.gameq.commit.CommitSender;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.script.NodeHeartbeat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives the node's sign of life, and heals when the last one is gone from Redis. Thread-safe. */
record SignsOfLife(
    NodeHeartbeat heartbeat, ControlConnection redis, CommitSender sender, NodeState state) {
  private static final Logger LOG = LoggerFactory.getLogger(SignsOfLife.class);

  /** To be called every second; throws GameQueueException when Redis does not take it. */
  void give() {
    if (!state.isAlive()) {
      takeBack(redis);
      return;
    }
    sender.takeAlong(redis);
    if (heartbeat.beat(redis, sender::hasHealedOn)) {
      sender.healAgain("its sign of life is gone from Redis");
    }
  }

  /** Before anything is opened; the next ones are given again and again. */
  void giveFirst() {
    try {
      give();
    } catch (RuntimeException e) {
      LOG.warn("cannot give a sign of life yet: {}", e.toString());
    }
  }

  /** If Redis answers over this connection; else the sign expires. */
  void takeBack(ControlConnection over) {
    try {
      heartbeat.stop(over);
    } catch (GameQueueException e) {
      LOG.debug("cannot take back the sign of life: {}", e.getMessage());
    }
  }
}

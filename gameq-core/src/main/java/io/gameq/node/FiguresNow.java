package io.gameq.node;

import io.gameq.GameQueue;
import io.gameq.GameQueueConfig;
import io.gameq.commit.CommitSender;
import io.gameq.durability.NodeSessions;
import io.gameq.sign.CommitOutcome;
import io.gameq.sign.NodeCounts;
import io.gameq.sign.NodeSign;
import io.gameq.sign.ProcessIdentity;
import io.gameq.upkeep.NodeUpkeep;
import io.gameq.wal.WalWriter;

/** What a running node can say of itself at any moment, without asking a server. Thread-safe. */
record FiguresNow(
    GameQueueConfig config,
    ProcessIdentity process,
    NodeState state,
    NodeSessions sessions,
    CommitSender sender,
    WalWriter wal,
    NodeUpkeep upkeep) {
  /** Which process this is. */
  static ProcessIdentity here(GameQueueConfig config) {
    return ProcessIdentity.here(config.node(), GameQueue.class);
  }

  /** As long as it runs. */
  NodeSign sign() {
    return sign(state.isAlive() ? NodeSign.RUNNING : NodeSign.FAILED);
  }

  NodeSign sign(String phase) {
    NodeCounts counts = sessions.counts();
    return new NodeSign(
        process,
        phase,
        upkeep.mysqlAnswers(),
        new NodeSign.Sessions(sessions.open(), counts.sessionsLost()),
        new NodeSign.Commits(
            counts.commits(CommitOutcome.QUEUED),
            counts.rows(),
            counts.merged(),
            sender.waiting(),
            sender.roomUsed()),
        new NodeSign.Wal(
            wal.directory().toAbsolutePath().toString(),
            wal.bytesNow(),
            config.walLimits().maxBytes(),
            counts.journaled(),
            upkeep.oldestMillis()),
        new NodeSign.Healings(
            counts.heals(), counts.healedMillis(), counts.replayed(), counts.conflicts()));
  }
}

package io.gameq.node;

import io.gameq.GameQueueConfig;
import io.gameq.backlog.NodePressure;
import io.gameq.commit.CommitSender;
import io.gameq.durability.Callbacks;
import io.gameq.durability.NodeSessions;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.redis.RedisClock;
import io.gameq.rows.RowCodec;
import io.gameq.upkeep.NodeUpkeep;
import io.gameq.upkeep.TopicRestore;
import io.gameq.view.GameTables;
import io.gameq.wal.WalWriter;

/**
 * The parts of a running node. Thread-safe.
 *
 * @param state whether it can go on
 * @param callbacks run the game's own code
 * @param sessions what may not be in MySQL yet
 * @param clock that of Redis
 * @param inboxes where it puts rows that it sends
 * @param signs of life
 * @param figures what it can say of itself
 * @param stateSigns tells Redis of these
 * @param pressure which thresholds of the backlog are passed
 * @param opened what is to be closed in the end
 */
record GameNode(
    GameQueueConfig config,
    NodeState state,
    GameTables tables,
    RowCodec codec,
    Callbacks callbacks,
    NodeSessions sessions,
    WalWriter wal,
    CommitSender sender,
    NodeRedis redis,
    RedisClock clock,
    NodeCalls calls,
    OwnerOpening opening,
    OwnerReading reading,
    NodeIds ids,
    TopicTable topics,
    TopicRestore topicRestore,
    Inboxes inboxes,
    SessionClosing closing,
    NodeUpkeep upkeep,
    SignsOfLife signs,
    FiguresNow figures,
    StateSigns stateSigns,
    NodePressure pressure,
    ResourceStack opened)
    implements AutoCloseable {
  /** Throws as {@link io.gameq.GameQueue#open(GameQueueConfig)}. */
  static GameNode start(GameQueueConfig config) {
    return new NodeStart(config).start();
  }

  @Override
  public void close() {
    if (state.close()) {
      new NodeClosing(this).close();
    }
  }
}

package io.gameq.writer.explorer;

import io.gameq.mysql.flush.FlushPlan;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnection;
import io.gameq.writer.flush.SlotTurn;
import io.gameq.writer.flush.SlotTurn.TurnContext;

/** A worker's turn in a world of the explorer. Used by the explorer's thread. */
final class ExplorerTurn extends SlotTurn {
  private final Servers world;

  ExplorerTurn(Servers world, long term, TurnContext shared) {
    super(
        shared,
        new ControlConnection(world.connector),
        new PrimaryConnector.Opened(world.redis, "", "", term, 0),
        null,
        true);
    this.world = world;
  }

  @Override
  protected RedisConnection redis() {
    return world.redis;
  }

  /** The worker remembers it. */
  @Override
  protected void leave() {}

  @Override
  protected FlushPlan.Halves halves() {
    return FlushPlan.Halves.UNKNOWN;
  }
}

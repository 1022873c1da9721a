package io.gameq.writer.explorer;

import io.gameq.GameQueueException;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.redis.ControlConnection.RedisConnection;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.writer.turn.AfterFlush.TurnContext;
import io.gameq.writer.turn.TurnPorts;
import java.util.List;

/** What a worker's turn reaches in a world of the explorer. Used by the explorer's thread. */
record ExplorerPorts(Servers world, long term, TurnContext context) implements TurnPorts {
  @Override
  public Slots slots() {
    return world.slots;
  }

  /** There is no schedule. */
  @Override
  public void claimed(int slot, ClaimScript.Batch batch) {}

  @Override
  public void failed(int slot, GameQueueException why) {
    throw why;
  }

  @Override
  public RedisConnection claimsFrom() {
    return world.redis;
  }

  @Override
  public RedisConnection redis() {
    return world.redis;
  }

  /** The worker remembers it. */
  @Override
  public void leave() {}

  @Override
  public FlushTransaction.Halves halves() {
    return FlushTransaction.Halves.UNKNOWN;
  }

  @Override
  public boolean takeSuspects(List<Claim> suspects) {
    throw new IllegalStateException("nobody holds up others here");
  }

  @Override
  public boolean takeBatch(List<Claim> batch) {
    throw new IllegalStateException("nobody holds up others here");
  }
}

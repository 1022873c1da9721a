package io.gameq.writer.flush;

import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.Claim;
import io.gameq.writer.turn.Ended;
import io.gameq.writer.turn.Turn;
import io.gameq.writer.turn.TurnContext;
import io.gameq.writer.turn.TurnPorts;
import java.util.List;

/** Takes one slot's turn, step by step, on one thread. */
final class SlotTurn implements TurnPorts {
  private final Worker.Shared shared;
  private final ControlConnection redis;
  private final ControlConnection.Connected primary;
  private final SlotKeys slot;
  private final SlowLane.Entrance lane;

  SlotTurn(
      Worker.Shared shared,
      ControlConnection redis,
      ControlConnection.Connected primary,
      SlotKeys slot,
      SlowLane.Entrance lane) {
    this.shared = shared;
    this.redis = redis;
    this.primary = primary;
    this.slot = slot;
    this.lane = lane;
  }

  /**
   * Takes all steps; renews the leases of what was claimed meanwhile.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer and nothing is claimed any more
   * @throws io.gameq.GameQueueException when Redis does not answer: claims come back when their
   *     leases run out
   */
  Ended take(Turn first) {
    Turn turn = first;
    while (!(turn instanceof Ended) && turn.claims().isEmpty()) {
      turn = turn.next(this);
    }
    try (LeaseRenewal.Held held = shared.leases().hold(slot, turn.claims())) {
      return takeHeld(turn);
    }
  }

  /** The same of claims whose leases somebody else renews. */
  Ended takeHeld(Turn first) {
    Turn turn = first;
    while (!(turn instanceof Ended)) {
      turn = turn.next(this);
    }
    return turn.end();
  }

  @Override
  public SlotKeys slot() {
    return slot;
  }

  @Override
  public long term() {
    return primary.term();
  }

  @Override
  public RedisConnection claimsFrom() {
    return primary.redis();
  }

  @Override
  public RedisConnection redis() {
    return redis.get();
  }

  @Override
  public void leave() {
    redis.close();
  }

  @Override
  public FlushTransaction.Halves halves() {
    return new OtherHalves(redis, shared.slots(), shared.context().mysql().sessions());
  }

  @Override
  public boolean takeSuspects(List<Claim> suspects) {
    return lane.takeSuspects(slot, term(), suspects);
  }

  @Override
  public boolean takeBatch(List<Claim> batch) {
    return lane.takeBatch(slot, term(), batch);
  }

  @Override
  public TurnContext context() {
    return shared.context();
  }
}

package io.gameq.writer.flush;

import io.gameq.GameQueueException;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.ControlConnection.RedisConnection;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.redis.script.LookupScript;
import io.gameq.redis.script.LookupScript.Looked;
import io.gameq.rows.HandledRow.RowKey;
import io.gameq.writer.flush.SlowLane.LeaseRenewal;
import io.gameq.writer.turn.AfterFlush.TurnContext;
import io.gameq.writer.turn.Ended;
import io.gameq.writer.turn.Turn;
import io.gameq.writer.turn.TurnPorts;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Takes a turn, step by step, on one thread. */
final class SlotTurn implements TurnPorts {
  private static final Claimed REAPED = new Claimed(0, 0, 0);

  private final Worker.Shared shared;
  private final ControlConnection redis;
  private final ControlConnection.Connected primary;
  private final SlowLane.Entrance lane;
  private final FlushListener listener;
  private final Map<Integer, Claimed> claimed = new HashMap<>();
  private final Map<Integer, GameQueueException> failed = new HashMap<>();

  /**
   * What was claimed of a slot.
   *
   * @param waitMillis until its next owner is due; -1 when none is, 0 when some were left
   */
  record Claimed(int owners, int rows, long waitMillis) {
    private Claimed plus(Claimed later) {
      return new Claimed(owners + later.owners, rows + later.rows, later.waitMillis);
    }
  }

  /**
   * Told of flushes by which MySQL's speed is seen: when one began, by System.nanoTime, and its
   * rows.
   */
  interface FlushListener {
    void flushed(long beganNanos, int owners, int rows);
  }

  SlotTurn(
      Worker.Shared shared,
      ControlConnection redis,
      ControlConnection.Connected primary,
      SlowLane.Entrance lane,
      FlushListener listener) {
    this.shared = shared;
    this.redis = redis;
    this.primary = primary;
    this.lane = lane;
    this.listener = listener;
  }

  /**
   * Takes all steps; renews the leases of what was claimed meanwhile.
   *
   * @throws io.gameq.MySqlException when MySQL does not answer and nothing is claimed any more
   * @throws io.gameq.GameQueueException when Redis does not answer: claims come back when their
   *     leases run out
   */
  void take(Turn first) {
    Turn turn = first;
    while (!(turn instanceof Ended) && turn.claims().isEmpty()) {
      turn = shared.steps().take(turn, this);
    }
    try (LeaseRenewal.Held held = shared.leases().hold(turn.claims())) {
      takeHeld(turn);
    }
  }

  /** The same of claims whose leases somebody else renews. */
  void takeHeld(Turn first) {
    Turn turn = first;
    while (!(turn instanceof Ended)) {
      turn = shared.steps().take(turn, this);
    }
  }

  /** What was claimed of a slot; where leases ran out, somebody is due by now. */
  Claimed claimed(int slot) {
    return claimed.getOrDefault(slot, REAPED);
  }

  /** Rows that were claimed of all slots. */
  int rows() {
    return claimed.values().stream().mapToInt(Claimed::rows).sum();
  }

  /** Why nothing could be claimed of a slot, or null. */
  @Nullable GameQueueException failed(int slot) {
    return failed.get(slot);
  }

  @Override
  public void claimed(int slot, ClaimScript.Batch batch) {
    int rows = batch.claims().stream().mapToInt(of -> of.rows().size()).sum();
    claimed.merge(
        slot, new Claimed(batch.claims().size(), rows, batch.waitMillis()), Claimed::plus);
  }

  @Override
  public void failed(int slot, GameQueueException why) {
    failed.put(slot, why);
  }

  @Override
  public void flushed(long beganNanos, int owners, int rows) {
    listener.flushed(beganNanos, owners, rows);
  }

  @Override
  public Slots slots() {
    return shared.slots();
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
    return lane.takeSuspects(term(), suspects);
  }

  @Override
  public boolean takeBatch(List<Claim> batch) {
    return lane.takeBatch(term(), batch);
  }

  @Override
  public TurnContext context() {
    return shared.context();
  }

  /**
   * Finds out whether the other half of a handover may still come: it waits in Redis, or the
   * session that has it was forgotten by Redis in a failover, and neither its node nor
   * gameq-recovery has put back yet what it had. A session that opened without the half brings
   * none. One thread.
   */
  static final class OtherHalves implements FlushTransaction.Halves {
    private final ControlConnection redis;
    private final Slots slots;
    private final OwnerTable sessions;

    OtherHalves(ControlConnection redis, Slots slots, OwnerTable sessions) {
      this.redis = redis;
      this.slots = slots;
      this.sessions = sessions;
    }

    @Override
    public boolean mayCome(RowKey row, Set<OwnerId> from) {
      try {
        Map<OwnerId, CountingSessions> durable = sessions.current(from);
        return from.stream().anyMatch(owner -> mayCome(row, owner, durable.get(owner)));
      } catch (GameQueueException e) { // who cannot be asked may have it
        return true;
      }
    }

    private boolean mayCome(RowKey row, OwnerId from, @Nullable CountingSessions durable) {
      Looked looked = LookupScript.look(redis.get(), slots.of(from), from, List.of(row.text()));
      return !looked.versions().isEmpty() || !looked.isAllOfOwner(durable);
    }
  }
}

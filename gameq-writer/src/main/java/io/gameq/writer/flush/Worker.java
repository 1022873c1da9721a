package io.gameq.writer.flush;

import io.gameq.MySqlException;
import io.gameq.log.RepeatedWarnings;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.CountingSessions;
import io.gameq.redis.Backoff;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.Claim;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ReapScript;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread of a writer: takes a slot in turn, claims what is due, flushes it in one transaction,
 * acknowledges.
 *
 * <p>Killed anywhere, it loses nothing: what it claimed comes back when the lease runs out, and
 * flushing twice changes nothing.
 */
public final class Worker implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

  private static final long MOST_REAP_DELAY_MILLIS = 3_000;

  private final Shared shared;
  private final SlowLane lane;
  private final ControlConnection redis;
  private final Flusher flusher;
  private final ClaimScript claims;
  private final Backoff backoff = new Backoff(100, 5_000);
  private final Map<Integer, Long> nextReapNanos = new HashMap<>();
  private boolean failing;

  /** What the workers of a writer share. */
  public record Shared(
      WriterOptions options,
      SlotKeys[] slots,
      SlotSchedule schedule,
      OwnerTable sessions,
      OwnerReader reader,
      RowDecoder decoder,
      ParkedTables parked,
      FlushTransaction flush,
      OutageGate mysql,
      TermWatch watch,
      LeaseRenewal leases,
      HeldUpOwners suspects,
      RepeatedWarnings complaints,
      WriterStats stats) {}

  public Worker(Shared shared, SlowLane lane, ControlConnection redis) {
    this.shared = shared;
    this.lane = lane;
    this.redis = redis;
    this.flusher = new Flusher(shared, redis);
    this.claims = new ClaimScript(shared.options().name(), shared.options().bounds());
  }

  /** Works until the schedule is stopped. */
  @Override
  public void run() {
    try {
      for (Integer slot; (slot = shared.schedule().take()) != null; ) {
        shared.schedule().giveBack(slot, takeTurn(shared.slots()[slot]));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      redis.close();
    }
  }

  /** One turn of a slot; returns the delay until its next one, ms. */
  private long takeTurn(SlotKeys slot) {
    try {
      long closed = shared.mysql().waitMillis();
      if (closed > 0) {
        return closed;
      }
      ControlConnection.Connected connected = shared.watch().connected(redis);
      reapWhenDue(slot);
      ClaimScript.Batch batch = claims.call(connected.redis(), slot);
      batch.stale().forEach(this::found);
      batch.broken().forEach(this::reportBroken);
      flush(slot, connected.term(), batch.claims());
      batch.unowned().forEach(unowned -> settleUnowned(slot, unowned));
      succeeded();
      return batch.waitMillis() < 0
          ? shared.schedule().idleMillis()
          : Math.min(batch.waitMillis(), shared.schedule().waitingMillis());
    } catch (MySqlException e) {
      return shared.mysql().close(e.getMessage());
    } catch (RuntimeException
        | Error e) { // an Error of one turn must not end the worker and its slot
      redis.close(); // it may be half dead
      long wait = backoff.nextMillisWithJitter();
      failed(slot, e, wait);
      return wait;
    }
  }

  private void succeeded() {
    backoff.reset();
    if (failing) {
      failing = false;
      LOG.info("works again");
    }
  }

  /** Says so once, not with every slot and every try. */
  private void failed(SlotKeys slot, Throwable e, long waitMillis) {
    if (failing) {
      LOG.debug("slot {}: {}; trying again in {} ms", slot.slot(), e.getMessage(), waitMillis);
    } else {
      failing = true;
      LOG.warn("slot {}: {}; trying again until it works", slot.slot(), e.getMessage());
    }
  }

  /** Leaves to the slow lane who may hold up the others. */
  private void flush(SlotKeys slot, long term, List<Claim> claims) {
    List<Claim> suspects = new ArrayList<>();
    List<Claim> rest = new ArrayList<>();
    for (Claim claim : claims) {
      long paused = shared.suspects().pausedMillis(claim.owner());
      if (paused > 0) { // a commit since then has made him due
        flusher.giveBack(slot, List.of(claim), paused, false);
      } else {
        (shared.suspects().contains(claim.owner()) ? suspects : rest).add(claim);
      }
    }
    lane.takeSuspects(flusher, slot, term, suspects);
    if (!rest.isEmpty()) {
      try (LeaseRenewal.Held held = shared.leases().hold(slot, rest)) {
        flusher.flush(
            slot, term, rest, (batch, why) -> lane.takeBatch(flusher, slot, term, batch, why));
      }
    }
  }

  // --- other duties

  private void found(ClaimScript.Rows stale) {
    shared
        .complaints()
        .about(
            "stale",
            LOG::warn,
            () ->
                ("rows of %s were committed by session %s after it had lost ownership:"
                        + " kept and never flushed, see 'gameq-writer stale'")
                    .formatted(stale.owner(), stale.session()));
    shared.stats().foundStale();
  }

  private void reportBroken(String key) {
    shared
        .complaints()
        .about(
            "broken",
            LOG::error,
            () ->
                ("Redis key %s is not the hash that gameq keeps there: its owner is not"
                        + " flushed; somebody else writes into gameq's keys, remove or rename it")
                    .formatted(key));
  }

  /** Redis lost the session of an owner with rows: MySQL knows it. */
  private void settleUnowned(SlotKeys slot, ClaimScript.Rows unowned) {
    CountingSessions durable =
        shared.sessions().current(List.of(unowned.owner())).get(unowned.owner());
    if (durable == null) {
      shared
          .complaints()
          .about(
              "no owner",
              LOG::error,
              () ->
                  ("owner %s has unflushed rows of session %s but no row in gameq_owner:"
                          + " they stay in Redis")
                      .formatted(unowned.owner(), unowned.session()));
    } else {
      OwnersInRedis.tell(redis.get(), slot, unowned.owner(), durable);
    }
  }

  /** Takes back what writers that are gone had claimed: all of it, soon after its lease ran out. */
  private void reapWhenDue(SlotKeys slot) {
    long now = System.nanoTime();
    if (now - nextReapNanos.getOrDefault(slot.slot(), now) < 0) {
      return;
    }
    long every = Math.min(shared.options().bounds().leaseMillis() / 3, MOST_REAP_DELAY_MILLIS);
    nextReapNanos.put(slot.slot(), now + TimeUnit.MILLISECONDS.toNanos(every));
    List<ReapScript.Reaped> reaped;
    do {
      reaped = ReapScript.call(redis.get(), slot);
      shared.stats().reaped(reaped.size());
      for (ReapScript.Reaped of : reaped) {
        shared
            .complaints()
            .about(
                "took back",
                LOG::warn,
                () ->
                    "took back owner %s from writer %s, whose lease ran out"
                        .formatted(of.owner(), of.writer()));
      }
    } while (reaped.size() == ReapScript.MOST);
  }
}

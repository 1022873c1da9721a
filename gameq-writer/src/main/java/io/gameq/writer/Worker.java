package io.gameq.writer;

import io.gameq.MySqlException;
import io.gameq.OwnerId;
import io.gameq.SessionId;
import io.gameq.mysql.OwnerTable;
import io.gameq.redis.Backoff;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.OpenScript;
import io.gameq.redis.SessionScripts;
import io.gameq.redis.SlotKeys;
import io.gameq.writer.mysql.FlushTransaction;
import io.gameq.writer.mysql.FlushTransaction.OwnerRows;
import io.gameq.writer.redis.Claim;
import io.gameq.writer.redis.ClaimScript;
import io.gameq.writer.redis.FinishScripts;
import io.gameq.writer.redis.FinishScripts.Flushed;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread of a writer: takes a slot in turn, claims what is due, flushes it in one transaction,
 * acknowledges.
 *
 * <p>Killed anywhere, it loses nothing: what it claimed comes back when the lease runs out, and
 * flushing twice changes nothing.
 */
final class Worker implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

  /**
   * An owner that a newer session took over in mid-flush: its rows are the newer session's by then.
   */
  private static final long NOT_OWNED_DELAY_MILLIS = 1_000;

  /**
   * An owner with a row that MySQL refuses is tried again after this, doubled with each attempt,
   * and does not hold up the others.
   */
  private static final long REFUSED_DELAY_MILLIS = 500;

  private static final int MOST_REFUSED_DOUBLINGS = 6;

  /**
   * Rows given back for an outage merge with what comes; the worker itself waits by its back-off.
   */
  private static final long OUTAGE_DELAY_MILLIS = 1_000;

  private final WriterOptions options;
  private final SlotKeys[] slots;
  private final SlotSchedule schedule;
  private final ControlConnection redis;
  private final OwnerTable sessions;
  private final RowDecoder decoder;
  private final FlushTransaction flush;
  private final WriterStats stats;
  private final ClaimScript claims;
  private final Backoff backoff = new Backoff(100, 5_000);
  private final Map<Integer, Long> nextReapNanos = new HashMap<>();

  /** What the workers of a writer share. */
  record Shared(
      WriterOptions options,
      SlotKeys[] slots,
      SlotSchedule schedule,
      OwnerTable sessions,
      RowDecoder decoder,
      FlushTransaction flush,
      WriterStats stats) {}

  Worker(Shared shared, ControlConnection redis) {
    this.options = shared.options();
    this.slots = shared.slots();
    this.schedule = shared.schedule();
    this.sessions = shared.sessions();
    this.decoder = shared.decoder();
    this.flush = shared.flush();
    this.stats = shared.stats();
    this.redis = redis;
    this.claims = new ClaimScript(options.name(), options.bounds());
  }

  /** Works until the schedule is stopped. */
  @Override
  public void run() {
    try {
      for (Integer slot; (slot = schedule.take()) != null; ) {
        schedule.giveBack(slot, takeTurn(slots[slot]));
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
      reapWhenDue(slot);
      ClaimScript.Batch batch = claims.call(redis.get(), slot);
      if (!batch.claims().isEmpty()) {
        boolean outage = !flush(slot, batch.claims());
        if (outage) {
          return backoff.nextMillisWithJitter();
        }
      }
      batch.unowned().forEach(unowned -> settleUnowned(slot, unowned));
      backoff.reset();
      return batch.waitMillis() < 0
          ? SlotSchedule.IDLE_MILLIS
          : Math.min(batch.waitMillis(), SlotSchedule.IDLE_MILLIS);
    } catch (RuntimeException
        | Error e) { // an Error of one turn must not end the worker and its slot
      redis.close(); // it may be half dead
      long wait = backoff.nextMillisWithJitter();
      LOG.warn("slot {}: {}; trying again in {} ms", slot.slot(), e.getMessage(), wait);
      return wait;
    }
  }

  /**
   * Flushes claims together; one by one when MySQL refuses them together. False when MySQL is away.
   */
  private boolean flush(SlotKeys slot, List<Claim> batch) {
    RowDecoder.Decoded decoded;
    try {
      decoded = decoder.decode(batch);
    } catch (MySqlException e) {
      return stayInRedis(slot, batch, e.getMessage());
    }
    decoded.unreadable().forEach((claim, reason) -> refuse(slot, claim, reason));
    Map<OwnerId, Claim> byOwner = new HashMap<>();
    List<OwnerRows> rows = new ArrayList<>();
    decoded
        .rows()
        .forEach(
            (claim, changes) -> {
              byOwner.put(claim.owner(), claim);
              rows.add(new OwnerRows(claim.owner(), claim.session(), changes));
            });
    return rows.isEmpty() || flushRows(slot, rows, byOwner);
  }

  private boolean flushRows(SlotKeys slot, List<OwnerRows> rows, Map<OwnerId, Claim> claimOf) {
    FlushTransaction.Outcome outcome = flush.flush(rows);
    if (outcome instanceof FlushTransaction.Committed committed) {
      acknowledge(slot, committed, claimOf);
      return true;
    }
    if (outcome instanceof FlushTransaction.Outage outage) {
      return stayInRedis(slot, rows.stream().map(r -> claim(claimOf, r)).toList(), outage.reason());
    }
    if (rows.size() == 1) {
      decoder.reloadCatalog(); // a column may have come or gone
      refuse(slot, claim(claimOf, rows.get(0)), ((FlushTransaction.Refused) outcome).reason());
      return true;
    }
    for (int i = 0; i < rows.size(); i++) {
      if (!flushRows(slot, rows.subList(i, i + 1), claimOf)) {
        List<OwnerRows> rest = rows.subList(i + 1, rows.size());
        if (!rest.isEmpty()) {
          stayInRedis(slot, rest.stream().map(r -> claim(claimOf, r)).toList(), "as above");
        }
        return false;
      }
    }
    return true;
  }

  /** An outage: nothing about the rows. Returns false. */
  private boolean stayInRedis(SlotKeys slot, List<Claim> batch, String reason) {
    LOG.warn(
        "MySQL is away or locked ({}): {} owners of slot {} stay in Redis",
        reason,
        batch.size(),
        slot.slot());
    giveBack(slot, batch, OUTAGE_DELAY_MILLIS, false);
    return false;
  }

  private static Claim claim(Map<OwnerId, Claim> claimOf, OwnerRows rows) {
    return java.util.Objects.requireNonNull(claimOf.get(rows.owner()));
  }

  private void acknowledge(
      SlotKeys slot, FlushTransaction.Committed committed, Map<OwnerId, Claim> claimOf) {
    List<Flushed> flushed = new ArrayList<>();
    for (OwnerRows of : committed.written()) {
      long version = of.rows().stream().mapToLong(row -> row.image().version()).max().orElse(0);
      flushed.add(new Flushed(claim(claimOf, of), version));
    }
    if (!flushed.isEmpty()) {
      FinishScripts.ack(redis.get(), slot, options.namespace(), flushed);
      stats.flushed(
          flushed.size(), committed.written().stream().mapToInt(of -> of.rows().size()).sum());
    }
    if (!committed.notOwned().isEmpty()) {
      finishOpens(slot, committed.notOwned());
      giveBack(
          slot,
          committed.notOwned().stream().map(r -> claim(claimOf, r)).toList(),
          NOT_OWNED_DELAY_MILLIS,
          false);
    }
  }

  /**
   * Owners whose newest session never got from MySQL to Redis, because its node died in between:
   * their rows must not wait for the next login.
   */
  private void finishOpens(SlotKeys slot, List<OwnerRows> notOwned) {
    List<OwnerId> owners = notOwned.stream().map(OwnerRows::owner).toList();
    sessions
        .unfinished(owners, options.bounds().leaseMillis())
        .forEach(
            (owner, session) -> {
              LOG.warn(
                  "finishing the open of {} by session {}, whose node is gone", owner, session);
              OpenScript.call(redis.get(), slot, owner, session, 0);
            });
  }

  private void refuse(SlotKeys slot, Claim claim, String reason) {
    long delayMillis =
        REFUSED_DELAY_MILLIS << Math.min(claim.attempts() - 1, MOST_REFUSED_DOUBLINGS);
    LOG.error(
        "owner {} cannot be flushed ({}), attempt {}; trying again in {} ms",
        claim.owner(),
        reason,
        claim.attempts(),
        delayMillis);
    giveBack(slot, List.of(claim), delayMillis, true);
  }

  private void giveBack(
      SlotKeys slot, List<Claim> batch, long delayMillis, boolean countsAsAttempt) {
    FinishScripts.nack(redis.get(), slot, delayMillis, countsAsAttempt, batch);
    stats.gaveBack(batch.size());
  }

  /** Redis lost the session of an owner with rows: MySQL knows it. */
  private void settleUnowned(SlotKeys slot, ClaimScript.Unowned unowned) {
    SessionId durable = sessions.current(List.of(unowned.owner())).get(unowned.owner());
    if (durable == null) {
      LOG.error(
          "owner {} has unflushed rows of session {} but no row in gameq_owner: they stay in Redis",
          unowned.owner(),
          unowned.session());
    } else {
      SessionScripts.reassert(redis.get(), slot, unowned.owner(), durable);
    }
  }

  private void reapWhenDue(SlotKeys slot) {
    long now = System.nanoTime();
    if (now - nextReapNanos.getOrDefault(slot.slot(), now) < 0) {
      return;
    }
    nextReapNanos.put(slot.slot(), now + options.bounds().leaseMillis() * 1_000_000 / 3);
    for (FinishScripts.Reaped reaped : FinishScripts.reap(redis.get(), slot)) {
      LOG.warn(
          "took back owner {} from writer {}, whose lease ran out",
          reaped.owner(),
          reaped.writer());
      stats.reaped(1);
    }
  }
}

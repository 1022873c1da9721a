package io.gameq.writer;

import io.gameq.MySqlException;
import io.gameq.OwnerId;
import io.gameq.commit.CountingSessions;
import io.gameq.mysql.DeadLetterTable.Refused;
import io.gameq.mysql.OwnerReader;
import io.gameq.mysql.OwnerTable;
import io.gameq.mysql.RowChange;
import io.gameq.redis.Backoff;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.term.Term;
import io.gameq.writer.mysql.FlushTransaction;
import io.gameq.writer.redis.Agreement;
import io.gameq.writer.redis.Claim;
import io.gameq.writer.redis.ClaimScript;
import io.gameq.writer.redis.FinishScripts;
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
final class Worker implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

  /**
   * An owner that a newer session took over in mid-flush: its rows are the newer session's by then.
   */
  private static final long NOT_OWNED_DELAY_MILLIS = 1_000;

  /** Rows given back for an outage merge with what comes; the gate says when to claim again. */
  private static final long OUTAGE_DELAY_MILLIS = 1_000;

  private static final long MOST_REAP_DELAY_MILLIS = 3_000;

  /**
   * Rows whose lease ran out so often, though they were taken alone since the second, are set
   * aside.
   */
  private static final int MOST_LAPSES = 5;

  private final Shared shared;
  private final ControlConnection redis;
  private final OtherHalves halves;
  private final ClaimScript claims;
  private final Backoff backoff = new Backoff(100, 5_000);
  private final Map<Integer, Long> nextReapNanos = new HashMap<>();
  private boolean failing;

  /** The number of the term of the primary that this turn claims from. */
  private long term = Term.NOT_KNOWN;

  /** What the workers of a writer share. */
  record Shared(
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
      WriterStats stats) {}

  Worker(Shared shared, ControlConnection redis) {
    this.shared = shared;
    this.redis = redis;
    this.halves = new OtherHalves(redis, shared.slots(), shared.sessions());
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
      term = connected.term();
      reapWhenDue(slot);
      ClaimScript.Batch batch = claims.call(connected.redis(), slot);
      batch.stale().forEach(this::found);
      batch.broken().forEach(Worker::reportBroken);
      if (!batch.claims().isEmpty()) {
        try (LeaseRenewal.Held held = shared.leases().hold(slot, batch.claims())) {
          flush(slot, batch.claims());
        } catch (MySqlException e) { // what is acknowledged by now is not given back
          stayInRedis(slot, batch.claims(), e.getMessage());
        }
      }
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

  // --- flush

  /** Flushes claims; rows that keep killing their writers come alone, see claim.lua. */
  private void flush(SlotKeys slot, List<Claim> batch) {
    if (batch.size() == 1 && batch.get(0).lapses() >= MOST_LAPSES) {
      setAside(slot, batch.get(0));
    } else {
      flushTogether(slot, batch);
    }
  }

  /** Flushes claims in one transaction; false when MySQL is away. */
  private boolean flushTogether(SlotKeys slot, List<Claim> batch) {
    Flushing flushing;
    try {
      flushing = new Flushing(shared.decoder().decode(batch));
    } catch (MySqlException e) {
      return stayInRedis(slot, batch, e.getMessage());
    }
    return flushOwners(slot, flushing, batch);
  }

  private boolean flushOwners(SlotKeys slot, Flushing flushing, List<Claim> batch) {
    FlushTransaction.Outcome outcome = shared.flush().flush(term, flushing.owners(batch), halves);
    if (outcome instanceof FlushTransaction.Committed committed) {
      shared.mysql().passed();
      acknowledge(slot, flushing, committed);
      return true;
    }
    if (outcome instanceof FlushTransaction.Outage outage) {
      return stayInRedis(slot, batch, outage.reason());
    }
    if (outcome instanceof FlushTransaction.Demoted demoted) {
      return leave(slot, batch, demoted.reason());
    }
    if (outcome instanceof FlushTransaction.TableRefused refused) {
      return shared.decoder().isAltered(refused.table())
          ? flushTogether(slot, batch)
          : park(slot, batch, refused);
    }
    if (batch.size() > 1) { // one of them is locked, or meets an error that gameq does not know
      return flushOneByOne(slot, flushing, batch);
    }
    if (outcome instanceof FlushTransaction.Locked locked) {
      LOG.warn("owner {} is locked in MySQL: {}", batch.get(0).owner(), locked.reason());
      giveBack(slot, batch, OUTAGE_DELAY_MILLIS, false);
    } else {
      shared.decoder().reloadCatalog(); // a column may have come or gone
      tryLater(slot, batch.get(0), ((FlushTransaction.Failed) outcome).reason());
    }
    return true;
  }

  private boolean park(SlotKeys slot, List<Claim> batch, FlushTransaction.TableRefused refused) {
    shared.parked().park(refused.table().name(), refused.reason());
    return flushTogether(slot, batch);
  }

  private boolean flushOneByOne(SlotKeys slot, Flushing flushing, List<Claim> batch) {
    for (int i = 0; i < batch.size(); i++) {
      if (!flushOwners(slot, flushing, batch.subList(i, i + 1))) {
        return stayInRedis(slot, batch.subList(i + 1, batch.size()), "as above");
      }
    }
    return true;
  }

  /** The rows of a claim that keeps killing its writers are not even decoded. */
  private void setAside(SlotKeys slot, Claim claim) {
    String reason =
        "its lease ran out %d times in a row: it may kill its writers".formatted(claim.lapses());
    List<Refused> rows =
        shared.decoder().notInMySql(claim, shared.reader()).stream()
            .map(row -> RowDecoder.setAside(claim, row, reason))
            .toList();
    flushOwners(
        slot,
        new Flushing(List.of(new RowDecoder.Decoded(claim, List.of(), rows, List.of()))),
        List.of(claim));
  }

  /**
   * What a demoted primary holds is not flushed: the nodes put it back on the new one, which the
   * next turn connects to. Returns false.
   */
  private boolean leave(SlotKeys slot, List<Claim> batch, String reason) {
    LOG.warn(
        "slot {}: {} owners are left to the new primary: {}", slot.slot(), batch.size(), reason);
    try {
      giveBack(slot, batch, OUTAGE_DELAY_MILLIS, false);
    } finally {
      redis.close();
    }
    return false;
  }

  /** An outage: nothing about the rows. Returns false. */
  private boolean stayInRedis(SlotKeys slot, List<Claim> batch, String reason) {
    shared.mysql().close(reason);
    if (!batch.isEmpty()) {
      giveBack(slot, batch, OUTAGE_DELAY_MILLIS, false);
    }
    return false;
  }

  // --- acknowledge

  private void acknowledge(SlotKeys slot, Flushing flushing, FlushTransaction.Committed committed) {
    if (!committed.written().isEmpty()) {
      committed.written().stream()
          .flatMap(of -> of.setAside().stream())
          .forEach(Worker::reportSetAside);
      committed.written().stream().flatMap(of -> of.kept().stream()).forEach(Worker::reportKept);
      FinishScripts.ack(
          redis.get(),
          slot,
          shared.options().namespace(),
          ParkedTables.RETRY_MILLIS,
          committed.written().stream().map(flushing::flushed).toList());
      shared.stats().flushed(committed.written());
    }
    if (!committed.notOwned().isEmpty()) {
      List<Claim> notOwned = committed.notOwned().stream().map(flushing::claim).toList();
      giveBack(slot, notOwned, NOT_OWNED_DELAY_MILLIS, false); // first: see agreeOnSessions
      agreeOnSessions(slot, notOwned);
    }
    for (FlushTransaction.HeldBack held : committed.heldBack()) {
      tryLater(slot, flushing.claim(held.of()), held.reason());
    }
  }

  private static void reportSetAside(Refused row) {
    LOG.error(
        "set aside {}:{} of {} in version {} as a dead letter after {} attempts: {}",
        row.table(),
        row.rowKey(),
        row.owner(),
        row.version(),
        row.attempts(),
        row.errorText());
  }

  private static void reportKept(RowChange row) {
    LOG.warn(
        "{} of {} waits in Redis for the other half of a handover: a failover made Redis forget who has it, until its node heals, its owner is opened again, or gameq-recovery replays its WAL",
        row.key(),
        row.owner());
  }

  /**
   * Owners of whose session Redis and MySQL differ: their rows must not wait for the next login.
   * MySQL may have lost the newest one with its newest commits; or Redis does not know it, because
   * its node died in mid-open, or because a failover lost that and nobody healed it in a lease's
   * time.
   */
  private void agreeOnSessions(SlotKeys slot, List<Claim> notOwned) {
    List<OwnerId> owners = notOwned.stream().map(Claim::owner).toList();
    Map<OwnerId, CountingSessions> durable = shared.sessions().current(owners);
    for (Claim of : notOwned) {
      CountingSessions sessions = durable.get(of.owner());
      if (of.session().isNewerThan(sessions == null ? null : sessions.newest())) {
        LOG.warn("MySQL lost session {} of {}: writing it again", of.session(), of.owner());
        shared.sessions().restore(of.owner(), of.session());
      }
    }
    shared
        .sessions()
        .raisedBefore(owners, shared.options().bounds().leaseMillis())
        .forEach((owner, sessions) -> Agreement.tell(redis.get(), slot, owner, sessions));
  }

  private void tryLater(SlotKeys slot, Claim claim, String reason) {
    long delayMillis =
        shared.options().retryDelayMillis(claim.attempts(), claim.refusedForMillis());
    LOG.warn(
        "owner {} cannot be flushed yet ({}), attempt {}; trying again in {} ms",
        claim.owner(),
        reason,
        claim.attempts(),
        delayMillis);
    giveBack(slot, List.of(claim), delayMillis, true);
  }

  private void giveBack(
      SlotKeys slot, List<Claim> batch, long delayMillis, boolean countsAsAttempt) {
    FinishScripts.nack(redis.get(), slot, delayMillis, countsAsAttempt, batch);
    shared.stats().gaveBack(batch.size());
  }

  // --- other duties

  private void found(ClaimScript.Rows stale) {
    LOG.warn(
        "rows of {} were committed by session {} after it had lost ownership: kept and never flushed, see 'gameq-writer stale'",
        stale.owner(),
        stale.session());
    shared.stats().foundStale();
  }

  private static void reportBroken(String key) {
    LOG.error(
        "Redis key {} is not the hash that gameq keeps there: its owner is not flushed; somebody else writes into gameq's keys, remove or rename it",
        key);
  }

  /** Redis lost the session of an owner with rows: MySQL knows it. */
  private void settleUnowned(SlotKeys slot, ClaimScript.Rows unowned) {
    CountingSessions durable =
        shared.sessions().current(List.of(unowned.owner())).get(unowned.owner());
    if (durable == null) {
      LOG.error(
          "owner {} has unflushed rows of session {} but no row in gameq_owner: they stay in Redis",
          unowned.owner(),
          unowned.session());
    } else {
      Agreement.tell(redis.get(), slot, unowned.owner(), durable);
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
    List<FinishScripts.Reaped> reaped;
    do {
      reaped = FinishScripts.reap(redis.get(), slot);
      shared.stats().reaped(reaped.size());
      for (FinishScripts.Reaped of : reaped) {
        LOG.warn("took back owner {} from writer {}, whose lease ran out", of.owner(), of.writer());
      }
    } while (reaped.size() == FinishScripts.MOST_REAPED);
  }
}

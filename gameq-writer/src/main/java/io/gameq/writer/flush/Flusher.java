package io.gameq.writer.flush;

import io.gameq.MySqlException;
import io.gameq.mysql.MySqlErrors;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.AckScript;
import io.gameq.redis.script.Claim;
import io.gameq.redis.script.NackScript;
import io.gameq.term.Term;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Flushes claims in one transaction, and acknowledges them or gives them back. Used by one thread.
 */
final class Flusher {
  private static final Logger LOG = LoggerFactory.getLogger(Flusher.class);

  /**
   * An owner that a newer session took over in mid-flush: its rows are the newer session's by then.
   */
  private static final long NOT_OWNED_DELAY_MILLIS = 1_000;

  /** Rows given back for an outage merge with what comes; the gate says when to claim again. */
  private static final long OUTAGE_DELAY_MILLIS = 1_000;

  /**
   * Rows whose lease ran out so often, though they were taken alone since the second, are set
   * aside.
   */
  private static final int MOST_LAPSES = 5;

  /** Of a batch in one turn: each may have waited for a lock. */
  private static final int MOST_TRIES = 3;

  private final Worker.Shared shared;
  private final ControlConnection redis;
  private final OtherHalves halves;
  private long term = Term.NOT_KNOWN;

  Flusher(Worker.Shared shared, ControlConnection redis) {
    this.shared = shared;
    this.redis = redis;
    this.halves = new OtherHalves(redis, shared.slots(), shared.sessions());
  }

  /** What becomes of claims that hold up others, or themselves. */
  interface HeldUp {
    /** Takes claims that could not be flushed together though MySQL answers. */
    void take(List<Claim> batch, FlushTransaction.Failure why);
  }

  /**
   * Flushes claims together; rows that keep killing their writers come alone, see claim.lua.
   *
   * @param itsTerm the number of the term of the primary that they were claimed from
   */
  void flush(SlotKeys slot, long itsTerm, List<Claim> batch, HeldUp heldUp) {
    term = itsTerm;
    if (batch.size() == 1 && batch.get(0).lapses() >= MOST_LAPSES) {
      Claim claim = batch.get(0);
      setAside(
          slot,
          claim,
          "its lease ran out %d times in a row: it may kill its writers".formatted(claim.lapses()));
    } else {
      flush(slot, batch, heldUp, MOST_TRIES);
    }
  }

  /** Flushes an owner who may hold up others, apart from them. */
  void flushApart(SlotKeys slot, long itsTerm, Claim claim) {
    term = itsTerm;
    shared.suspects().add(claim.owner()); // until he is written
    flushApart(slot, claim, MOST_TRIES);
  }

  private void flushApart(SlotKeys slot, Claim claim, int triesLeft) {
    decoded(
        slot,
        List.of(claim),
        flushing -> {
          FlushTransaction.Outcome outcome =
              shared.flush().flushApart(term, flushing.owners(List.of(claim)).get(0), halves);
          List<Claim> rest = forNextTry(slot, List.of(claim), outcome);
          if (rest != null) {
            tryAgain(slot, rest, triesLeft, left -> flushApart(slot, claim, left));
          } else if (outcome instanceof FlushTransaction.Locked locked) {
            isLocked(slot, claim, locked.reason());
          } else if (outcome instanceof FlushTransaction.Failure failure && isOfOne(failure)) {
            failedAlone(slot, claim, failure);
          } else {
            finish(slot, flushing, List.of(claim), outcome);
          }
        });
  }

  private void tryAgain(SlotKeys slot, List<Claim> rest, int triesLeft, IntConsumer flush) {
    if (rest.isEmpty()) {
      return;
    }
    if (triesLeft > 1) {
      flush.accept(triesLeft - 1);
    } else {
      giveBack(slot, rest, OUTAGE_DELAY_MILLIS, false);
    }
  }

  private void decoded(SlotKeys slot, List<Claim> batch, Consumer<ClaimedRows> flush) {
    ClaimedRows flushing;
    try {
      flushing = new ClaimedRows(shared.decoder().decode(batch));
    } catch (MySqlException e) {
      stayInRedis(slot, batch, e.getMessage());
      return;
    }
    try {
      flush.accept(flushing);
    } catch (MySqlException e) { // what is acknowledged by now is not given back
      stayInRedis(slot, batch, e.getMessage());
    }
  }

  private void flush(SlotKeys slot, List<Claim> batch, HeldUp heldUp, int triesLeft) {
    decoded(
        slot,
        batch,
        flushing -> {
          FlushTransaction.Outcome outcome =
              shared.flush().flush(term, flushing.owners(batch), halves);
          List<Claim> rest = forNextTry(slot, batch, outcome);
          if (rest != null) {
            tryAgain(slot, rest, triesLeft, left -> flush(slot, rest, heldUp, left));
          } else if (triesLeft > 1
              && outcome instanceof FlushTransaction.Outage outage
              && isMidway(outage)) {
            flush(slot, batch, heldUp, triesLeft - 1); // most often it was the connection
          } else if (outcome instanceof FlushTransaction.Failure failure && isOfOne(failure)) {
            shared.mysql().heldUp(failure.reason());
            heldUp.take(batch, failure);
          } else {
            finish(slot, flushing, batch, outcome);
          }
        });
  }

  /** Whether one of the owners may be why, since MySQL answers. */
  private boolean isOfOne(FlushTransaction.Failure failure) {
    return failure instanceof FlushTransaction.Locked
        || failure instanceof FlushTransaction.Slow
        || failure instanceof FlushTransaction.Failed
        || (failure instanceof FlushTransaction.Outage outage && isMidway(outage));
  }

  private boolean isMidway(FlushTransaction.Outage outage) {
    return outage.midway() && shared.mysql().answers();
  }

  /**
   * The claims that may pass now, when it is known why they did not: without owners that are
   * locked, which are given back, and with the tables parked that were; null when nothing is known.
   */
  private @Nullable List<Claim> forNextTry(
      SlotKeys slot, List<Claim> batch, FlushTransaction.Outcome outcome) {
    if (outcome instanceof FlushTransaction.TableRefused refused) {
      if (!shared.decoder().isAltered(refused.table())) {
        shared.parked().park(refused.table().name(), refused.reason());
      }
      return batch;
    }
    if (outcome instanceof FlushTransaction.TablesLocked locked) {
      locked.tables().forEach(table -> shared.parked().park(table, locked.reason()));
      return batch;
    }
    if (outcome instanceof FlushTransaction.Locked locked && !locked.owners().isEmpty()) {
      List<Claim> rest = new ArrayList<>();
      for (Claim claim : batch) {
        if (locked.owners().contains(claim.owner())) {
          isLocked(slot, claim, locked.reason());
        } else {
          rest.add(claim);
        }
      }
      return rest;
    }
    return null;
  }

  /** What is left when nobody holds up anybody. */
  private void finish(
      SlotKeys slot, ClaimedRows flushing, List<Claim> batch, FlushTransaction.Outcome outcome) {
    if (outcome instanceof FlushTransaction.Committed committed) {
      if (!committed.written().isEmpty()) {
        shared.mysql().passed();
      }
      acknowledge(slot, flushing, committed);
    } else if (outcome instanceof FlushTransaction.Demoted demoted) {
      leave(slot, batch, demoted.reason());
    } else if (outcome instanceof FlushTransaction.Outage outage) {
      stayInRedis(slot, batch, outage.reason());
    }
  }

  private void isLocked(SlotKeys slot, Claim claim, String reason) {
    long delayMillis = shared.suspects().delayMillis(claim.owner());
    shared
        .complaints()
        .about(
            "locked",
            LOG::info,
            () ->
                "owner %s is locked in MySQL (%s); trying again in %d ms"
                    .formatted(claim.owner(), reason, delayMillis));
    giveBack(slot, List.of(claim), delayMillis, false);
  }

  /** An owner that could not be flushed, though it came alone and MySQL answers. */
  private void failedAlone(SlotKeys slot, Claim claim, FlushTransaction.Failure failure) {
    boolean broke = failure instanceof FlushTransaction.Outage;
    int breaks = shared.suspects().breaks(claim.owner(), broke);
    if (broke && shared.flush().isOutOfPatience(breaks, claim.refusedForMillis())) {
      setAside(slot, claim, "the connection broke with every attempt: " + failure.reason());
      return;
    }
    shared.decoder().reloadCatalog(); // a column may have come or gone
    tryLater(slot, claim, failure.reason());
  }

  /** The rows of a claim that nobody can flush are not even decoded. */
  private void setAside(SlotKeys slot, Claim claim, String reason) {
    try {
      List<Refused> rows =
          shared.decoder().notInMySql(claim, shared.reader()).stream()
              .map(row -> RowDecoder.setAside(claim, row, reason))
              .toList();
      ClaimedRows flushing =
          new ClaimedRows(List.of(new RowDecoder.Decoded(claim, List.of(), rows, List.of())));
      FlushTransaction.Outcome outcome =
          shared.flush().flush(term, flushing.owners(List.of(claim)), halves);
      if (outcome instanceof FlushTransaction.Failure failure && isOfOne(failure)) {
        tryLater(slot, claim, failure.reason());
      } else {
        finish(slot, flushing, List.of(claim), outcome);
      }
    } catch (MySqlException e) {
      stayInRedis(slot, List.of(claim), e.getMessage());
    }
  }

  /**
   * What a demoted primary holds is not flushed: the nodes put it back on the new one, which the
   * next turn connects to.
   */
  private void leave(SlotKeys slot, List<Claim> batch, String reason) {
    shared
        .complaints()
        .about(
            "left",
            LOG::warn,
            () ->
                "slot %d: %d owners are left to the new primary: %s"
                    .formatted(slot.slot(), batch.size(), reason));
    try {
      giveBack(slot, batch, OUTAGE_DELAY_MILLIS, false);
    } finally {
      redis.close();
    }
  }

  /** An outage: nothing about the rows. */
  private void stayInRedis(SlotKeys slot, List<Claim> batch, String reason) {
    shared.mysql().close(reason);
    if (!batch.isEmpty()) {
      giveBack(slot, batch, OUTAGE_DELAY_MILLIS, false);
    }
  }

  // --- acknowledge

  private void acknowledge(
      SlotKeys slot, ClaimedRows flushing, FlushTransaction.Committed committed) {
    if (!committed.written().isEmpty()) {
      committed.written().stream()
          .flatMap(of -> of.setAside().stream())
          .forEach(this::reportSetAside);
      committed.written().stream().flatMap(of -> of.kept().stream()).forEach(this::reportKept);
      AckScript.call(
          redis.get(),
          slot,
          shared.options().namespace(),
          ParkedTables.RETRY_MILLIS,
          committed.written().stream().map(flushing::flushed).toList());
      shared.stats().flushed(committed.written());
      if (!shared.parked().isEmpty()) {
        shared.parked().passed(flushing.tables(committed.written()));
      }
      committed.written().stream()
          .filter(of -> of.kept().isEmpty())
          .forEach(of -> shared.suspects().remove(of.of().owner()));
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

  /** 'dead list' has them all. */
  private void reportSetAside(Refused row) {
    shared
        .complaints()
        .about(
            "set aside " + row.table() + " " + row.errorCode(),
            LOG::error,
            () ->
                "set aside %s:%s of %s in version %s as a dead letter after %d attempts: %s"
                    .formatted(
                        row.table(),
                        row.rowKey(),
                        row.owner(),
                        Long.toUnsignedString(row.version()),
                        row.attempts(),
                        row.errorText()));
  }

  private void reportKept(RowChange row) {
    shared
        .complaints()
        .about(
            "kept",
            LOG::warn,
            () ->
                ("%s of %s waits in Redis for the other half of a handover, or while many"
                        + " rows of its owner are slow; a half until its node heals, its owner is"
                        + " opened again, or gameq-recovery replays its WAL")
                    .formatted(row.key(), row.owner()));
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
        shared
            .complaints()
            .about(
                "lost session",
                LOG::warn,
                () ->
                    "MySQL lost session %s of %s: writing it again"
                        .formatted(of.session(), of.owner()));
        restore(of);
      }
    }
    shared
        .sessions()
        .raisedBefore(owners, shared.options().bounds().leaseMillis())
        .forEach((owner, sessions) -> OwnersInRedis.tell(redis.get(), slot, owner, sessions));
  }

  /** Somebody may have locked the owner: he is tried again with his next claim. */
  private void restore(Claim of) {
    try {
      boolean unused = shared.sessions().restore(of.owner(), of.session());
    } catch (MySqlException e) {
      if (!MySqlErrors.isTryAgain(e)) {
        throw e;
      }
    }
  }

  private void tryLater(SlotKeys slot, Claim claim, String reason) {
    long delayMillis =
        shared.options().retryDelayMillis(claim.attempts(), claim.refusedForMillis());
    shared
        .complaints()
        .about(
            "not yet",
            LOG::warn,
            () ->
                "owner %s cannot be flushed yet (%s), attempt %d; trying again in %d ms"
                    .formatted(claim.owner(), reason, claim.attempts(), delayMillis));
    giveBack(slot, List.of(claim), delayMillis, true);
  }

  void giveBack(SlotKeys slot, List<Claim> batch, long delayMillis, boolean countsAsAttempt) {
    NackScript.call(redis.get(), slot, delayMillis, countsAsAttempt, batch);
    shared.stats().gaveBack(batch.size());
  }
}

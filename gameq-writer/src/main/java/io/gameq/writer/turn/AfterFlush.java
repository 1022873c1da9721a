package io.gameq.writer.turn;

import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.redis.script.Claim;
import java.util.ArrayList;
import java.util.List;

/** Decides what follows a flush by what became of it. Used once. */
final class AfterFlush {
  private final TurnPorts ports;
  private final Flushing flushing;
  private final List<Claim> batch;
  private final TurnContext.HoldUps holdUps;

  AfterFlush(TurnPorts ports, Flushing flushing) {
    this.ports = ports;
    this.flushing = flushing;
    this.batch = flushing.rows().claims();
    this.holdUps = ports.context().holdUps();
  }

  Turn by(FlushTransaction.Outcome outcome) {
    ports.context().reports().ended(outcome);
    if (outcome instanceof FlushTransaction.Committed committed) {
      return committed(committed);
    }
    if (outcome instanceof FlushTransaction.Demoted demoted) {
      ports.context().reports().left(batch.size(), demoted.reason());
      return new Leaving(flushing.claims(), flushing.end());
    }
    if (outcome instanceof FlushTransaction.TableRefused refused) {
      return new RereadingTable(batch, refused.table(), refused.reason(), again(batch));
    }
    if (outcome instanceof FlushTransaction.TablesLocked locked) {
      locked.tables().forEach(table -> holdUps.tables().park(table, locked.reason()));
      return again(batch);
    }
    if (outcome instanceof FlushTransaction.Locked locked && !locked.owners().isEmpty()) {
      return withoutLocked(locked);
    }
    if (outcome instanceof FlushTransaction.Outage outage) {
      return outage(outage);
    }
    return ofOne((FlushTransaction.Failure) outcome);
  }

  private Turn committed(FlushTransaction.Committed committed) {
    ClaimedRows rows = flushing.rows();
    Turn next = flushing.then();
    List<Claim> notOwned = new ArrayList<>(committed.notOwned().stream().map(rows::claim).toList());
    if (!notOwned.isEmpty()) {
      next = new AskingForLost(List.copyOf(notOwned), next);
    }
    for (FlushTransaction.Fenced fenced : committed.fenced()) {
      ports.context().reports().fenced(fenced);
      next = new Fencing(fenced.of().owner(), fenced.by(), next);
      notOwned.add(rows.claim(fenced.of()));
    }
    ports.context().reports().notOwned(notOwned.size());
    for (FlushTransaction.HeldBack held : committed.heldBack()) {
      next = GivingBack.untilRetry(ports, rows.claim(held.of()), held.reason(), next);
    }
    if (!notOwned.isEmpty()) { // before MySQL is asked: what Redis is told then must find them
      next = GivingBack.notOwned(notOwned, next);
    }
    if (committed.written().isEmpty()) {
      return next;
    }
    holdUps.mysql().passed();
    ports.context().reports().committed(committed.written());
    return new Acknowledging(rows, committed.written(), next);
  }

  /** The rest may pass, now that it is known why it did not. */
  private Turn again(List<Claim> rest) {
    if (rest.isEmpty()) {
      return flushing.then();
    }
    return flushing.triesLeft() > 1
        ? new Decoding(rest, flushing.kind(), flushing.triesLeft() - 1, flushing.then())
        : GivingBack.forNextTurn(rest, flushing.then());
  }

  private Turn withoutLocked(FlushTransaction.Locked locked) {
    List<Claim> rest = new ArrayList<>(batch);
    rest.removeIf(claim -> locked.owners().contains(claim.owner()));
    Turn next = again(rest);
    for (Claim claim : batch) {
      if (locked.owners().contains(claim.owner())) {
        next = GivingBack.locked(ports, claim, locked.reason(), next);
      }
    }
    return next;
  }

  private Turn outage(FlushTransaction.Outage outage) {
    if (!outage.midway() || !holdUps.mysql().answers()) {
      return GivingBack.forOutage(ports, batch, outage.reason(), flushing.then());
    }
    if (flushing.kind() == FlushKind.TOGETHER && flushing.triesLeft() > 1) {
      return again(batch); // most often it was the connection
    }
    return ofOne(outage);
  }

  /** One of the owners may be why, since MySQL answers. */
  private Turn ofOne(FlushTransaction.Failure failure) {
    return switch (flushing.kind()) {
      case TOGETHER -> heldUp(failure);
      case APART -> failedAlone(batch.get(0), failure);
      case SETTING_ASIDE ->
          GivingBack.untilRetry(ports, batch.get(0), failure.reason(), flushing.then());
    };
  }

  private Turn heldUp(FlushTransaction.Failure failure) {
    holdUps.mysql().heldUp(failure.reason());
    ports.context().reports().holdsUp(batch.size(), failure.reason());
    return ports.takeBatch(batch)
        ? flushing.then()
        : GivingBack.forWantOfRoom(batch, flushing.then());
  }

  private Turn failedAlone(Claim claim, FlushTransaction.Failure failure) {
    if (failure instanceof FlushTransaction.Locked) {
      return GivingBack.locked(ports, claim, failure.reason(), flushing.then());
    }
    boolean broke = failure instanceof FlushTransaction.Outage;
    int breaks = holdUps.owners().breaks(claim.owner(), broke);
    return broke
            && ports.context().mysql().flush().isOutOfPatience(breaks, claim.refusedForMillis())
        ? new SettingAside(
            claim, "the connection broke with every attempt: " + failure.reason(), flushing.then())
        : new RereadingCatalog(claim, failure.reason(), flushing.then());
  }
}

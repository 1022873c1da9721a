package io.gameq.writer.turn;

import io.gameq.MySqlException;
import io.gameq.mysql.MySqlErrors;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.flush.FlushTransaction.Written;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.owner.DurableSessions.SessionId;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.redis.script.SessionScripts;
import io.gameq.rows.HandledRow;
import io.gameq.rows.Table;
import io.gameq.writer.pause.Pausing.Pauses;
import io.gameq.writer.turn.Claiming.HeldUpOwners;
import io.gameq.writer.turn.Claiming.WriterOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Decides what follows a flush by what became of it. Used once. */
public final class AfterFlush {
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

  /** With whom claims are flushed, and what for. */
  enum FlushKind {
    /** Many owners: one that holds up the others is looked for apart. */
    TOGETHER,
    /** One owner who may hold up others: rows that take MySQL long are searched for. */
    APART,
    /** One owner whose rows nobody can flush: all become dead letters, none is decoded. */
    SETTING_ASIDE
  }

  /**
   * About to tell Redis that MySQL has ended an owner's session: what it committed is parked, and
   * its node is told. Without this step, as when the writer dies, each flush of the owner is
   * refused until {@link AskingForOpening} takes it.
   *
   * @param by the session that counts now, which nobody has
   */
  record Fencing(OwnerId owner, SessionId by, Turn then) implements Turn {
    @Override
    public Turn next(TurnPorts ports) {
      SessionScripts.fence(ports.redis(), ports.slots().of(owner), owner, by);
      return then;
    }
  }

  /**
   * About to look whether a table that was refused was altered since rows were decoded by it; if
   * not, it is parked.
   *
   * @param then the next try
   */
  record RereadingTable(List<Claim> batch, Table table, String reason, Turn then) implements Turn {
    @Override
    public Turn next(TurnPorts ports) {
      try {
        if (!ports.context().mysql().decoder().isAltered(table)) {
          ports.context().holdUps().tables().park(table.name(), reason);
        }
        return then;
      } catch (MySqlException e) {
        return GivingBack.forOutage(ports, batch, e.getMessage(), then.then());
      }
    }
  }

  /**
   * About to give claims back to a primary that was demoted: what it holds is not flushed, the
   * nodes put it back on the new one, which the next turn connects to.
   */
  public record Leaving(List<Claim> batch, Ended then) implements Turn {
    @Override
    public Turn next(TurnPorts ports) {
      try {
        return GivingBack.forNextTurn(batch, then).next(ports);
      } finally {
        ports.leave();
      }
    }

    @Override
    public List<Claim> claims() {
      return batch;
    }
  }

  /**
   * About to read the catalogue again, since an owner failed alone: a column may have come or gone.
   */
  record RereadingCatalog(Claim claim, String reason, Turn then) implements Turn {
    @Override
    public Turn next(TurnPorts ports) {
      try {
        boolean unused = ports.context().mysql().decoder().reloadCatalog();
        return GivingBack.untilRetry(ports, claim, reason, then);
      } catch (MySqlException e) {
        return GivingBack.forOutage(ports, List.of(claim), e.getMessage(), then);
      }
    }

    @Override
    public List<Claim> claims() {
      return Stream.concat(Stream.of(claim), then.claims().stream()).toList();
    }
  }

  /**
   * About to ask MySQL for the sessions of owners that were refused: it may have lost the newest
   * with its newest commits.
   */
  public record AskingForLost(List<Claim> notOwned, Turn then) implements Turn {
    @Override
    public Turn next(TurnPorts ports) {
      List<OwnerId> owners = notOwned.stream().map(Claim::owner).toList();
      Map<OwnerId, CountingSessions> durable = ports.context().mysql().sessions().current(owners);
      Turn next = new AskingForOpening(owners, then);
      for (Claim of : notOwned) {
        CountingSessions sessions = durable.get(of.owner());
        if (of.session().isNewerThan(sessions == null ? null : sessions.newest())) {
          next = new Restoring(of.owner(), of.session(), next);
        }
      }
      return next;
    }
  }

  /**
   * About to flush claims, in one transaction.
   *
   * @param triesLeft of flushing them in this turn, this one included
   */
  public record Flushing(ClaimedRows rows, FlushKind kind, int triesLeft, Turn then)
      implements Turn {
    @Override
    public Turn next(TurnPorts ports) {
      return new AfterFlush(ports, this).by(flush(ports));
    }

    private FlushTransaction.Outcome flush(TurnPorts ports) {
      FlushTransaction flush = ports.context().mysql().flush();
      if (kind == FlushKind.APART) { // he is suspected until he is written
        ports.context().holdUps().owners().add(rows.claims().get(0).owner());
        return flush.flushApart(ports.term(), owners(ports).get(0), ports.halves());
      }
      long began = System.nanoTime();
      FlushTransaction.Outcome outcome = flush.flush(ports.term(), owners(ports), ports.halves());
      if (outcome instanceof FlushTransaction.Committed
          || outcome instanceof FlushTransaction.Slow) {
        ports.flushed(began, rows.claims().size(), rows.count());
      }
      return outcome;
    }

    private List<FlushTransaction.OwnerRows> owners(TurnPorts ports) {
      return ports.context().holdUps().holdSomeBack() ? rows.ownersWithPatience() : rows.owners();
    }

    @Override
    public List<Claim> claims() {
      return Stream.concat(rows.claims().stream(), then.claims().stream()).toList();
    }
  }

  /**
   * About to ask MySQL which rows of a claim that nobody can flush it lacks: dead letters to be.
   */
  record SettingAside(Claim claim, String reason, Turn then) implements Turn {
    @Override
    public Turn next(TurnPorts ports) {
      TurnContext.Tables mysql = ports.context().mysql();
      try {
        List<Refused> rows =
            mysql.decoder().notInMySql(claim, mysql.reader()).stream()
                .filter(row -> !HandledRow.is(row.key())) // it decides whether the others count
                .map(row -> RowDecoder.setAside(claim, row, reason))
                .toList();
        RowDecoder.Decoded decoded =
            new RowDecoder.Decoded(
                claim,
                mysql.decoder().handled(claim.owner(), claim.rows()),
                rows,
                List.of(),
                RowDecoder.Paused.NONE);
        return new Flushing(new ClaimedRows(List.of(decoded)), FlushKind.SETTING_ASIDE, 1, then);
      } catch (MySqlException e) {
        return GivingBack.forOutage(ports, List.of(claim), e.getMessage(), then);
      }
    }

    @Override
    public List<Claim> claims() {
      return Stream.concat(Stream.of(claim), then.claims().stream()).toList();
    }
  }

  /** About to acknowledge what a flush has written. */
  public record Acknowledging(ClaimedRows rows, List<Written> written, Turn then) implements Turn {
    @Override
    public Turn next(TurnPorts ports) {
      TurnContext context = ports.context();
      ClaimScript.ack(
          ports.redis(),
          ports.slots(),
          context.options().namespace(),
          flushed(context.holdUps().pauses().get().tables()));
      context.reports().flushed(written);
      ParkedTables parked = context.holdUps().tables();
      if (!parked.isEmpty()) {
        parked.passed(rows.tables(written));
      }
      written.stream()
          .filter(of -> of.kept().isEmpty())
          .forEach(of -> context.holdUps().owners().remove(of.of().owner()));
      return then;
    }

    /** What ack.lua is told where nothing is paused. */
    public List<ClaimScript.Flushed> flushed() {
      return flushed(Set.of());
    }

    private List<ClaimScript.Flushed> flushed(Set<String> paused) {
      return written.stream().map(of -> rows.flushed(of, paused)).toList();
    }

    @Override
    public List<Claim> claims() {
      return Stream.concat(written.stream().map(of -> rows.claim(of.of())), then.claims().stream())
          .toList();
    }
  }

  /** What all turns of a writer share. Thread-safe. */
  public record TurnContext(
      WriterOptions options, Tables mysql, HoldUps holdUps, TurnReports reports) {
    /** What a turn asks of MySQL. */
    public record Tables(
        OwnerTable sessions, OwnerReader reader, RowDecoder decoder, FlushTransaction flush) {}

    /** What holds up flushes: MySQL as a whole, tables, owners; and what operators paused. */
    public record HoldUps(
        OutageGate mysql, ParkedTables tables, HeldUpOwners owners, Supplier<Pauses> pauses) {
      /** Whether what a row refers to may be held back, by operators or since it does not fit. */
      boolean holdSomeBack() {
        return pauses.get().holdSomeBack() || tables.keepsSome();
      }
    }
  }

  /**
   * About to ask MySQL which of the owners that were refused have had their session for so long
   * that Redis should know it: its node died in mid-open, or a failover lost that and nobody healed
   * it in a lease's time. Their rows must not wait for the next login.
   */
  public record AskingForOpening(List<OwnerId> owners, Turn then) implements Turn {
    @Override
    public Turn next(TurnPorts ports) {
      TurnContext context = ports.context();
      Map<OwnerId, CountingSessions> durable =
          context.mysql().sessions().raisedBefore(owners, context.options().bounds().leaseMillis());
      Turn next = then;
      for (OwnerId owner : owners) {
        CountingSessions sessions = durable.get(owner);
        next = sessions == null ? next : Reasserting.orFinishing(owner, sessions, next);
      }
      return next;
    }
  }

  /** About to write a session again that MySQL lost. */
  public record Restoring(OwnerId owner, SessionId session, Turn then) implements Turn {
    @Override
    public Turn next(TurnPorts ports) {
      ports.context().reports().restores(owner, session);
      try {
        boolean unused = ports.context().mysql().sessions().restore(owner, session);
      } catch (MySqlException e) {
        if (!MySqlErrors.isTryAgain(e)) { // somebody locked him: he is tried with his next claim
          throw e;
        }
      }
      return then;
    }
  }

  /**
   * About to make the last session that was open own again where Redis forgot it. What an older one
   * committed since is parked: this one never saw it and must not adopt it now.
   *
   * @param durable by MySQL; has a session that was open
   */
  public record Reasserting(OwnerId owner, CountingSessions durable, Turn then) implements Turn {
    /**
     * This, or where none was open the step after it.
     *
     * @param durable has not changed for so long that no open is under way
     */
    static Turn orFinishing(OwnerId owner, CountingSessions durable, Turn then) {
      return durable.lastOpen() != null
          ? new Reasserting(owner, durable, then)
          : refused(owner, durable, then);
    }

    @Override
    public Turn next(TurnPorts ports) {
      boolean owns =
          SessionScripts.reassert(
              ports.redis(),
              ports.slots().of(owner),
              owner,
              Objects.requireNonNull(durable.lastOpen()));
      return owns ? then : refused(owner, durable, then);
    }

    /** Where a later one owns that counts no more, the open that came after it is finished. */
    private static Turn refused(OwnerId owner, CountingSessions durable, Turn then) {
      return durable.opening() ? new FinishingOpen(owner, durable.newest(), then) : then;
    }
  }

  /** About to finish an open whose node is gone: its session adopts. */
  public record FinishingOpen(OwnerId owner, SessionId session, Turn then) implements Turn {
    @Override
    public Turn next(TurnPorts ports) {
      ports.context().reports().finishesOpen(owner, session);
      SessionScripts.open(ports.redis(), ports.slots().of(owner), owner, session, 0, true);
      return then;
    }
  }
}

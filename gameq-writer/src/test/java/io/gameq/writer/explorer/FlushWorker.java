package io.gameq.writer.explorer;

import io.gameq.OwnerId;
import io.gameq.SessionId;
import io.gameq.catalog.RowKey;
import io.gameq.mysql.RowChange;
import io.gameq.redis.OpenScript;
import io.gameq.redis.UnflushedRow;
import io.gameq.writer.explorer.Gate.Stop;
import io.gameq.writer.explorer.TableImage.DurableSession;
import io.gameq.writer.mysql.FlushTransaction.Committed;
import io.gameq.writer.mysql.FlushTransaction.OwnerRows;
import io.gameq.writer.redis.Claim;
import io.gameq.writer.redis.ClaimScript;
import io.gameq.writer.redis.FinishScripts;
import io.gameq.writer.redis.FinishScripts.Flushed;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A worker of a writer, in the steps of {@code Worker.takeTurn}: claim, the statements of the
 * flush, ack, ask for unfinished opens, finish one, nack. It may stall before any of them.
 *
 * @param index its place in the cast
 * @param twin the place of the worker that claims before it, so that of two idle workers only one
 *     is tried; its own when there is none
 * @param batch owners it claims together
 * @param everyStatement whether other actors may come between any two statements of the flush, or
 *     only after the owners are locked and before COMMIT
 */
record FlushWorker(int index, int twin, String name, int batch, boolean everyStatement, Plant plant)
    implements Actor {
  /** What a worker is about to do. */
  enum Phase {
    IDLE,
    CLAIMED,
    FLUSHING,
    FLUSHED,
    NOT_OWNED,
    FINISHES_OPEN,
    GIVES_BACK
  }

  /**
   * What a worker remembers.
   *
   * @param passes statements that ran in the open transaction
   * @param stop what the transaction does next
   * @param seen the durable sessions of its owners when they were locked
   * @param written owners to acknowledge
   * @param notOwned owners to give back
   * @param unfinished sessions whose open is to be finished
   */
  record Memory(
      Phase phase,
      List<Claim> claims,
      List<OwnerRows> rows,
      int passes,
      Stop stop,
      List<DurableSession> seen,
      List<OwnerId> written,
      List<OwnerId> notOwned,
      Map<OwnerId, SessionId> unfinished)
      implements Local {
    boolean isFlushing() {
      return phase == Phase.FLUSHING;
    }

    boolean sameFlush(@org.jspecify.annotations.Nullable Memory other) {
      return other != null
          && other.isFlushing()
          && other.rows == rows
          && other.passes == passes
          && other.seen.equals(seen);
    }

    boolean holds(OwnerId owner) {
      return claims.stream().anyMatch(claim -> claim.owner().equals(owner));
    }

    Memory in(Phase next) {
      return new Memory(next, claims, rows, passes, stop, seen, written, notOwned, unfinished);
    }

    @Override
    public String text() {
      StringBuilder text = new StringBuilder(phase.name());
      for (OwnerRows of : rows) {
        text.append(' ').append(of.owner()).append(' ').append(of.session());
        of.rows().forEach(row -> text.append(' ').append(row.image()));
      }
      if (isFlushing()) {
        text.append(passes).append(stop).append(seen);
      }
      return text.append(written).append(notOwned).append(unfinished).toString();
    }
  }

  private static final Memory IDLE =
      new Memory(
          Phase.IDLE,
          List.of(),
          List.of(),
          0,
          Stop.STATEMENT,
          List.of(),
          List.of(),
          List.of(),
          Map.of());

  @Override
  public Memory start() {
    return IDLE;
  }

  @Override
  public List<Step> steps(State state, Local local) {
    Memory me = (Memory) local;
    return switch (me.phase) {
      case IDLE -> claims(state);
      case CLAIMED ->
          waitsForOwners(state, me)
              ? List.of()
              : List.of(
                  Step.mysqlRead(name + " locks the sessions", world -> lock(world, state, me)));
      case FLUSHING ->
          List.of(
              me.stop == Stop.COMMIT
                  ? Step.mysql(name + " commits", world -> flushOn(world, me))
                  : Step.mysqlRead(name + " writes", world -> flushOn(world, me)));
      case FLUSHED -> List.of(Step.redis(name + " acks", world -> ack(world, me)));
      case NOT_OWNED ->
          List.of(
              Step.mysqlRead(
                  name + " is refused, asks for unfinished opens", world -> ask(world, me)));
      case FINISHES_OPEN ->
          List.of(Step.redis(name + " finishes the open", world -> finishOpens(world, me)));
      case GIVES_BACK -> List.of(Step.redis(name + " nacks", world -> nack(world, me)));
    };
  }

  // --- claim

  private List<Step> claims(State state) {
    if (twin != index && ((Memory) state.locals().get(twin)).phase == Phase.IDLE) {
      return List.of();
    }
    List<String> due = state.redis().items("}:due");
    if (due.isEmpty()) {
      return List.of();
    }
    if (batch > 1) {
      return List.of(Step.redis(name + " claims", world -> claim(world, due.get(0), due)));
    }
    return due.stream()
        .map(entry -> Step.redis(name + " claims " + entry, world -> claim(world, entry, due)))
        .toList();
  }

  private Memory claim(World world, String first, List<String> due) {
    world.makeFirst(first, due);
    ClaimScript script = new ClaimScript(name, new ClaimScript.Bounds(batch, 100, 1 << 20, 0));
    List<Claim> claims = script.call(world.redis, world.slot).claims();
    if (claims.isEmpty()) {
      return IDLE;
    }
    List<OwnerRows> rows = new ArrayList<>();
    for (Claim claim : claims) {
      List<RowChange> changes = new ArrayList<>();
      for (UnflushedRow row : claim.rows()) {
        RowKey key = world.catalog.rowKey(row.key());
        changes.add(
            new RowChange(claim.owner(), key, world.codec.decode(key.table(), row.image())));
      }
      rows.add(new OwnerRows(claim.owner(), claim.session(), changes));
    }
    return new Memory(
        Phase.CLAIMED, claims, rows, 0, Stop.STATEMENT, List.of(), List.of(), List.of(), Map.of());
  }

  // --- flush

  /** Saves waiting for the server's answer where the answer is known. */
  private boolean waitsForOwners(State state, Memory me) {
    return !plant.has(Plant.Switch.OWNERS_NOT_LOCKED)
        && me.claims.stream().anyMatch(claim -> isLocked(state, claim.owner()));
  }

  /** Whether a flush has locked the owner's durable session. */
  static boolean isLocked(State state, OwnerId owner) {
    return state.all(Memory.class).anyMatch(w -> w.isFlushing() && w.holds(owner));
  }

  private Memory lock(World world, State state, Memory me) throws Step.Blocked {
    List<DurableSession> seen =
        me.claims.stream().map(claim -> state.tables().session(claim.owner())).toList();
    Memory begun =
        new Memory(
            Phase.FLUSHING,
            me.claims,
            me.rows,
            0,
            me.stop,
            seen,
            me.written,
            me.notOwned,
            Map.of());
    Flushing flushing = world.beginFlush(index, begun);
    if (!flushing.pass()) {
      world.abandonFlush(index);
      throw new Step.Blocked();
    }
    return stands(world, flushing, begun);
  }

  private Memory flushOn(World world, Memory me) throws Step.Blocked {
    Flushing flushing = world.flushing(index);
    boolean moved = false;
    do {
      if (!flushing.pass()) {
        if (!moved) {
          throw new Step.Blocked();
        }
        break;
      }
      moved = true;
    } while (!everyStatement && flushing.stop() == Stop.STATEMENT);
    return stands(world, flushing, me);
  }

  private Memory stands(World world, Flushing flushing, Memory me) {
    Memory now =
        flushing.stop() == Stop.DONE
            ? done(flushing, me)
            : new Memory(
                Phase.FLUSHING,
                me.claims,
                me.rows,
                flushing.passes(),
                flushing.stop(),
                me.seen,
                List.of(),
                List.of(),
                Map.of());
    world.stands(index, now);
    return now;
  }

  private static Memory done(Flushing flushing, Memory me) {
    if (!(flushing.outcome() instanceof Committed committed)) {
      throw new IllegalStateException("the flush did not commit: " + flushing.outcome());
    }
    List<OwnerId> written = committed.written().stream().map(OwnerRows::owner).toList();
    List<OwnerId> notOwned = committed.notOwned().stream().map(OwnerRows::owner).toList();
    return new Memory(
        written.isEmpty() ? Phase.NOT_OWNED : Phase.FLUSHED,
        me.claims,
        me.rows,
        0,
        Stop.DONE,
        List.of(),
        written,
        notOwned,
        Map.of());
  }

  // --- finish

  private static Memory ack(World world, Memory me) {
    List<Flushed> flushed = new ArrayList<>();
    for (Claim claim : of(me.claims, me.written)) {
      long version =
          me.rows.stream()
              .filter(rows -> rows.owner().equals(claim.owner()))
              .flatMap(rows -> rows.rows().stream())
              .mapToLong(row -> row.image().version())
              .max()
              .orElse(0);
      flushed.add(new Flushed(claim, version));
    }
    FinishScripts.ack(world.redis, world.slot, world.namespace, flushed);
    return me.notOwned.isEmpty() ? IDLE : me.in(Phase.NOT_OWNED);
  }

  private static Memory ask(World world, Memory me) {
    Map<OwnerId, SessionId> unfinished =
        world.plant.has(Plant.Switch.OPENS_NOT_FINISHED)
            ? Map.of()
            : world.sessions.unfinished(me.notOwned, 0);
    return new Memory(
        unfinished.isEmpty() ? Phase.GIVES_BACK : Phase.FINISHES_OPEN,
        me.claims,
        me.rows,
        0,
        me.stop,
        List.of(),
        me.written,
        me.notOwned,
        unfinished);
  }

  private static Memory finishOpens(World world, Memory me) {
    me.unfinished.forEach(
        (owner, session) -> OpenScript.call(world.redis, world.slot, owner, session, 0));
    return me.in(Phase.GIVES_BACK);
  }

  private static Memory nack(World world, Memory me) {
    FinishScripts.nack(world.redis, world.slot, 0, false, of(me.claims, me.notOwned));
    return IDLE;
  }

  private static List<Claim> of(List<Claim> claims, List<OwnerId> owners) {
    return claims.stream().filter(claim -> owners.contains(claim.owner())).toList();
  }
}

package io.gameq.writer.explorer;

import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.FlushTransaction.Committed;
import io.gameq.mysql.flush.FlushTransaction.Demoted;
import io.gameq.mysql.flush.FlushTransaction.OwnerRows;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.redis.UnflushedRow;
import io.gameq.redis.script.AckScript;
import io.gameq.redis.script.AckScript.Flushed;
import io.gameq.redis.script.Claim;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.NackScript;
import io.gameq.redis.script.OpenScript;
import io.gameq.rows.RowKey;
import io.gameq.term.Term;
import io.gameq.writer.explorer.Gate.Stop;
import io.gameq.writer.flush.OwnersInRedis;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A worker of a writer, in the steps of {@code Worker.takeTurn}: claim, the statements of the
 * flush, ack, nack; and of owners that were refused, or whose rows nobody owns, ask MySQL who owns
 * and tell Redis. It may stall before any of them.
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
    GIVES_BACK,
    /** The primary that it claimed from does not count any more. */
    LEAVES,
    UNOWNED,
    TELLS_WHO_OWNS
  }

  /**
   * A statement that ran in an open transaction.
   *
   * @param sequence its place among those of all open transactions
   * @param tables what was committed when it ran
   * @param answer what the server answered
   */
  record Pass(int sequence, TableImage tables, String answer) {}

  /**
   * What a worker remembers.
   *
   * @param passes the statements that ran in the open transaction
   * @param stop what the transaction does next
   * @param written owners to acknowledge
   * @param notOwned owners to give back
   * @param durable by MySQL, whose owners Redis is to be told of
   * @param reached the primary that it is connected to; {@link Reached#FIRST} where it has yet to
   */
  record Memory(
      Phase phase,
      List<Claim> claims,
      List<OwnerRows> rows,
      List<Pass> passes,
      Stop stop,
      List<OwnerId> written,
      List<OwnerId> notOwned,
      Map<OwnerId, CountingSessions> durable,
      Reached reached)
      implements Local {
    /** About to lock the sessions. */
    Memory claimed(List<Claim> held, List<OwnerRows> changes) {
      return new Memory(
          Phase.CLAIMED,
          held,
          changes,
          List.of(),
          Stop.STATEMENT,
          List.of(),
          List.of(),
          Map.of(),
          reached);
    }

    boolean isFlushing() {
      return phase == Phase.FLUSHING;
    }

    boolean sameFlush(@org.jspecify.annotations.Nullable Memory other) {
      return other != null
          && other.isFlushing()
          && other.rows == rows
          && other.passes.equals(passes);
    }

    Memory passed(State state, FlushInThread flushing) {
      List<Pass> now = new ArrayList<>(passes);
      int before =
          Stream.concat(
                  now.stream(), state.all(Memory.class).flatMap(worker -> worker.passes.stream()))
              .mapToInt(Pass::sequence)
              .max()
              .orElse(0);
      now.add(new Pass(before + 1, state.tables(), flushing.answer()));
      return new Memory(
          Phase.FLUSHING,
          claims,
          rows,
          List.copyOf(now),
          flushing.stop(),
          written,
          notOwned,
          durable,
          reached);
    }

    boolean holds(OwnerId owner) {
      return locks().contains(owner);
    }

    /** The owners that the flush locks: its own, and those that its rows came from or went to. */
    Set<OwnerId> locks() {
      Set<OwnerId> owners = new HashSet<>();
      claims.forEach(claim -> owners.add(claim.owner()));
      rows.forEach(of -> owners.addAll(GuardedWrites.others(of.rows())));
      return owners;
    }

    Memory in(Phase next) {
      return new Memory(next, claims, rows, passes, stop, written, notOwned, durable, reached);
    }

    Memory at(Reached now) {
      return new Memory(phase, claims, rows, passes, stop, written, notOwned, durable, now);
    }

    Memory idle() {
      return IDLE.at(reached);
    }

    Memory without(Phase next, OwnerId owner, Map<OwnerId, CountingSessions> durable) {
      return new Memory(
          next, List.of(), List.of(), List.of(), stop, List.of(), List.of(owner), durable, reached);
    }

    @Override
    public String text() {
      StringBuilder text = new StringBuilder(phase.name()).append(reached);
      for (OwnerRows of : rows) {
        text.append(' ').append(of.owner()).append(' ').append(of.session());
        of.rows().forEach(row -> text.append(' ').append(row.image()));
      }
      if (isFlushing()) {
        passes.forEach(pass -> text.append(' ').append(pass.answer));
        text.append(' ').append(stop);
      }
      return text.append(written).append(notOwned).append(durable).toString();
    }
  }

  private static final Memory IDLE =
      new Memory(
          Phase.IDLE,
          List.of(),
          List.of(),
          List.of(),
          Stop.STATEMENT,
          List.of(),
          List.of(),
          Map.of(),
          Reached.FIRST);

  @Override
  public Memory start() {
    return IDLE;
  }

  @Override
  public List<Step> steps(State state, Local local) {
    Memory me = (Memory) local;
    List<Step> steps = new ArrayList<>();
    if (mayGoOver(state, me)) {
      steps.add(
          Step.mysql(name + " connects to the newest primary", world -> me.at(world.reach(state))));
    }
    if (me.phase != Phase.IDLE || !hasToConnect(state, me)) {
      works(state, me).forEach(step -> steps.add(step.at(me.reached, state)));
    }
    return steps;
  }

  private static boolean hasToConnect(State state, Memory me) {
    return state.hasTerms() && me.reached.term() == Term.NOT_KNOWN;
  }

  /** Before it calls Redis. */
  private static boolean mayGoOver(State state, Memory me) {
    return me.phase == Phase.IDLE && (hasToConnect(state, me) || me.reached.isFormer(state));
  }

  private List<Step> works(State state, Memory me) {
    return switch (me.phase) {
      case IDLE -> claims(state, me);
      case CLAIMED ->
          waitsForOwners(state, me)
              ? List.of()
              : List.of(
                  Step.mysqlRead(name + " locks the sessions", world -> lock(world, state, me)));
      case FLUSHING ->
          List.of(
              me.stop == Stop.COMMIT
                  ? Step.mysql(name + " commits", world -> flushOn(world, state, me))
                  : state.hasTerms()
                      ? Step.mysql(name + " writes, commits", world -> flushOn(world, state, me))
                      : Step.mysqlRead(name + " writes", world -> flushOn(world, state, me)));
      case FLUSHED -> acks(state, me);
      case NOT_OWNED -> List.of(Step.redis(name + " is refused, nacks", world -> nack(world, me)));
      case LEAVES ->
          List.of(Step.redis(name + " is refused by the term, nacks", world -> leave(world, me)));
      case GIVES_BACK ->
          List.of(Step.mysqlRead(name + " asks who owns them", world -> ask(world, me)));
      case UNOWNED ->
          List.of(
              Step.mysqlRead(
                  name + " found rows that nobody owns, asks MySQL", world -> askOwner(world, me)));
      case TELLS_WHO_OWNS ->
          List.of(Step.redis(name + " tells Redis who owns", world -> tellOwner(world, me)));
    };
  }

  // --- claim

  private List<Step> claims(State state, Memory me) {
    if (twin != index && state.locals().get(twin).equals(me)) {
      return List.of();
    }
    RedisImage redis =
        me.reached.isFormer(state) ? Objects.requireNonNull(state.former()) : state.redis();
    List<String> due = redis.items("}:due");
    if (due.isEmpty()) {
      return List.of();
    }
    if (batch > 1) {
      return List.of(Step.redis(name + " claims", world -> claim(world, me, due.get(0), due)));
    }
    return due.stream()
        .map(entry -> Step.redis(name + " claims " + entry, world -> claim(world, me, entry, due)))
        .toList();
  }

  private Memory claim(Servers world, Memory me, String first, List<String> due) {
    world.makeFirst(first, due);
    ClaimScript script = new ClaimScript(name, new ClaimScript.Bounds(batch, 100, 1 << 20, 0));
    ClaimScript.Batch batched = script.call(world.redis, world.slot);
    List<Claim> claims = batched.claims();
    if (claims.isEmpty()) {
      return batched.unowned().isEmpty()
          ? me.idle()
          : me.without(Phase.UNOWNED, batched.unowned().get(0).owner(), Map.of());
    }
    List<OwnerRows> rows = new ArrayList<>();
    for (Claim claim : claims) {
      List<RowChange> changes = new ArrayList<>();
      for (UnflushedRow row : claim.rows()) {
        RowKey key = world.catalog.rowKey(row.key());
        changes.add(
            new RowChange(
                claim.owner(), key, world.codec.decode(key.table(), row.image()), row.image()));
      }
      rows.add(
          new OwnerRows(
              claim.owner(),
              claim.session(),
              world.isOutOfPatience() ? Servers.PATIENCE.attempts() : 1,
              0,
              changes,
              List.of()));
    }
    return me.claimed(claims, rows);
  }

  // --- flush

  /** Saves waiting for the server's answer where the answer is known. */
  private boolean waitsForOwners(State state, Memory me) {
    return !plant.has(Plant.Switch.OWNERS_NOT_LOCKED)
        && me.locks().stream().anyMatch(owner -> isLocked(state, owner));
  }

  /** Whether a flush has locked the owner's durable session. */
  static boolean isLocked(State state, OwnerId owner) {
    return state.all(Memory.class).anyMatch(w -> w.isFlushing() && w.holds(owner));
  }

  private Memory lock(Servers world, State state, Memory me) throws Step.Blocked {
    Memory begun = me.in(Phase.FLUSHING);
    FlushInThread flushing = world.beginFlush(index, begun);
    if (!flushing.pass()) {
      world.abandonFlush(index);
      throw new Step.Blocked();
    }
    return stands(world, flushing, begun.passed(state, flushing));
  }

  private Memory flushOn(Servers world, State state, Memory me) throws Step.Blocked {
    if (world.locksAreSlow() && meetsAnother(state, me)) {
      throw new Step.Blocked();
    }
    FlushInThread flushing = world.flushing(index);
    Memory now = me;
    do {
      if (!flushing.pass()) {
        if (now.passes.size() == me.passes.size()) {
          throw new Step.Blocked();
        }
        break;
      }
      now = now.passed(state, flushing);
    } while (flushing.stop() == Stop.STATEMENT ? !everyStatement : isAlone(state, flushing));
    return stands(world, flushing, now);
  }

  /** Whether COMMIT may follow at once: nobody but another flush meets what is not committed. */
  private static boolean isAlone(State state, FlushInThread flushing) {
    return state.hasTerms() && flushing.stop() == Stop.COMMIT;
  }

  /** Whether another open transaction has written a row that this one is about to write. */
  private boolean meetsAnother(State state, Memory me) {
    List<RowKey> mine = keys(me);
    return !plant.has(Plant.Switch.OWNERS_NOT_LOCKED)
        && me.passes.size() == 1
        && me.stop == Stop.STATEMENT
        && state
            .all(Memory.class)
            .filter(other -> other.isFlushing() && other.passes.size() > 1)
            .flatMap(other -> keys(other).stream())
            .anyMatch(mine::contains);
  }

  private static List<RowKey> keys(Memory of) {
    return of.rows.stream().flatMap(rows -> rows.rows().stream()).map(RowChange::key).toList();
  }

  private Memory stands(Servers world, FlushInThread flushing, Memory me) {
    Memory now = flushing.stop() == Stop.DONE ? done(flushing, me) : me;
    world.stands(index, now);
    return now;
  }

  /** A lock that is not given in time, or a deadlock, rolls the flush back; it begins again. */
  Step rollBack(Local local) {
    Memory me = (Memory) local;
    return Step.mysqlRead(
        name + " waits in vain, rolls back",
        world -> {
          world.abandonFlush(index);
          return me.claimed(me.claims, me.rows);
        });
  }

  private static Memory done(FlushInThread flushing, Memory me) {
    if (flushing.outcome() instanceof Demoted) {
      return me.in(Phase.LEAVES);
    }
    if (!(flushing.outcome() instanceof Committed committed)) {
      throw new IllegalStateException("the flush did not commit: " + flushing.outcome());
    }
    List<OwnerId> written =
        committed.written().stream().map(flushed -> flushed.of().owner()).toList();
    List<OwnerId> notOwned =
        Stream.concat(
                committed.notOwned().stream(), committed.heldBack().stream().map(held -> held.of()))
            .map(OwnerRows::owner)
            .toList();
    return new Memory(
        written.isEmpty() ? Phase.NOT_OWNED : Phase.FLUSHED,
        me.claims,
        me.rows,
        List.of(),
        Stop.DONE,
        written,
        notOwned,
        Map.of(),
        me.reached);
  }

  // --- finish

  /** The notice may be lost; where no node can come to replay anything, it always is. */
  private List<Step> acks(State state, Memory me) {
    Step unheard = Step.redis(name + " acks, its notice is lost", world -> ack(world, me, false));
    return state.mayFailOver()
        ? List.of(Step.redis(name + " acks", world -> ack(world, me, true)), unheard)
        : List.of(unheard);
  }

  private static Memory ack(Servers world, Memory me, boolean heard) {
    List<Flushed> flushed = new ArrayList<>();
    for (Claim claim : of(me.claims, me.written)) {
      long version =
          me.rows.stream()
              .filter(rows -> rows.owner().equals(claim.owner()))
              .flatMap(rows -> rows.rows().stream())
              .mapToLong(row -> row.image().version())
              .max()
              .orElse(0);
      flushed.add(new Flushed(claim, version, List.of(), List.of()));
    }
    AckScript.call(world.redis, world.slot, world.namespace, 0, flushed);
    if (heard) {
      world.hearNews();
    } else {
      world.hearNothing();
    }
    return me.notOwned.isEmpty() ? me.idle() : me.in(Phase.NOT_OWNED);
  }

  private static Memory nack(Servers world, Memory me) {
    NackScript.call(world.redis, world.slot, 0, false, of(me.claims, me.notOwned));
    return me.in(Phase.GIVES_BACK);
  }

  /** What it claimed is for the nodes to put back; the next turn connects anew. */
  private static Memory leave(Servers world, Memory me) {
    NackScript.call(world.redis, world.slot, 0, false, me.claims);
    return IDLE;
  }

  /** An open that nobody finished, or a session that Redis may have forgotten. */
  private static Memory ask(Servers world, Memory me) {
    if (world.plant.has(Plant.Switch.OPENS_NOT_FINISHED)) {
      return me.idle();
    }
    OwnerId owner = me.notOwned.get(0);
    return me.without(Phase.TELLS_WHO_OWNS, owner, world.sessions.raisedBefore(List.of(owner), 0));
  }

  private static Memory askOwner(Servers world, Memory me) {
    OwnerId owner = me.notOwned.get(0);
    return me.without(Phase.TELLS_WHO_OWNS, owner, world.sessions.current(List.of(owner)));
  }

  private static Memory tellOwner(Servers world, Memory me) {
    me.durable.forEach(
        (owner, sessions) -> {
          if (world.plant.has(Plant.Switch.OPENS_FINISHED_ALWAYS) && sessions.opening()) {
            OpenScript.finish(world.redis, world.slot, owner, sessions.newest());
          } else {
            OwnersInRedis.tell(world.redis, world.slot, owner, sessions);
          }
        });
    return me.idle();
  }

  private static List<Claim> of(List<Claim> claims, List<OwnerId> owners) {
    return claims.stream().filter(claim -> owners.contains(claim.owner())).toList();
  }
}

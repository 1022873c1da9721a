package io.gameq.writer.explorer;

import io.gameq.GameQueueException;
import io.gameq.mysql.RowChange;
import io.gameq.mysql.flush.FlushPlan.OwnerRows;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.owner.OwnerId;
import io.gameq.redis.script.ClaimScript.Claim;
import io.gameq.redis.script.SessionScripts;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.term.Term;
import io.gameq.writer.explorer.Gate.Stop;
import io.gameq.writer.flush.SlotSchedule.SlotShare;
import io.gameq.writer.flush.SlotTurn;
import io.gameq.writer.flush.Stage;
import io.gameq.writer.flush.Stage.Acknowledge;
import io.gameq.writer.flush.Stage.ClaimDue;
import io.gameq.writer.flush.Stage.Decode;
import io.gameq.writer.flush.Stage.End;
import io.gameq.writer.flush.Stage.FindOpenings;
import io.gameq.writer.flush.Stage.Flush;
import io.gameq.writer.flush.Stage.Leave;
import io.gameq.writer.flush.Stage.ReassertSession;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A worker of a writer: takes the steps of {@link Stage}, and those of its flush one statement at a
 * time. It may stall before any of them.
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
   * @param turn where it stands
   * @param passes the statements that ran in the open transaction, if it has one
   * @param stop what the transaction does next
   * @param reached the primary that it is connected to; {@link Reached#FIRST} where it has yet to
   */
  record Memory(Stage turn, List<Pass> passes, Stop stop, Reached reached) implements Local {
    boolean isIdle() {
      return turn instanceof ClaimDue;
    }

    /** Whether its transaction is open. */
    boolean isFlushing() {
      return !passes.isEmpty();
    }

    List<Claim> claims() {
      return turn.claims();
    }

    List<OwnerRows> rows() {
      return turn instanceof Flush flushing ? flushing.asked() : List.of();
    }

    boolean sameFlush(@org.jspecify.annotations.Nullable Memory other) {
      return other != null
          && other.isFlushing()
          && other.turn == turn
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
      return new Memory(turn, List.copyOf(now), flushing.stop(), reached);
    }

    boolean holds(OwnerId owner) {
      return locks().contains(owner);
    }

    /** The owners that the flush locks: its own, and those that its rows came from or went to. */
    Set<OwnerId> locks() {
      Set<OwnerId> owners = new HashSet<>();
      claims().forEach(claim -> owners.add(claim.owner().base())); // of an inbox its owner
      rows().forEach(of -> owners.addAll(GuardedWrites.others(of.rows())));
      return owners;
    }

    Memory at(Stage now) {
      return new Memory(now, List.of(), Stop.STATEMENT, reached);
    }

    Memory on(Reached primary) {
      return new Memory(turn, passes, stop, primary);
    }

    @Override
    public String text() {
      StringBuilder text = new StringBuilder(TurnText.of(turn)).append(reached);
      if (isFlushing()) {
        passes.forEach(pass -> text.append(' ').append(pass.answer));
        text.append(' ').append(stop);
      }
      return text.toString();
    }
  }

  @Override
  public Memory start() {
    return new Memory(claiming(), List.of(), Stop.STATEMENT, Reached.FIRST);
  }

  private ClaimDue claiming() {
    return new ClaimDue(List.of(new SlotShare(0, batch, Servers.CLAIMED_ROWS)), false);
  }

  @Override
  public List<Step> steps(State state, Local local) {
    Memory me = (Memory) local;
    List<Step> steps = new ArrayList<>();
    if (mayGoOver(state, me)) {
      steps.add(
          Step.mysql(name + " connects to the newest primary", world -> me.on(world.reach(state))));
    }
    if (!me.isIdle() || !hasToConnect(state, me)) {
      works(state, me).forEach(step -> steps.add(step.at(me.reached, state)));
    }
    return steps;
  }

  private static boolean hasToConnect(State state, Memory me) {
    return state.hasTerms() && me.reached.term() == Term.NOT_KNOWN;
  }

  /** Before it calls Redis. */
  private static boolean mayGoOver(State state, Memory me) {
    return me.isIdle() && (hasToConnect(state, me) || me.reached.isFormer(state));
  }

  private List<Step> works(State state, Memory me) {
    if (me.turn instanceof ClaimDue) {
      return claims(state, me);
    }
    if (me.turn instanceof Flush) {
      return me.isFlushing() ? List.of(flushes(state, me)) : locks(state, me);
    }
    if (me.turn instanceof Acknowledge) {
      return acks(state, me);
    }
    String label = name + " " + TurnText.of(me.turn);
    return List.of(
        TurnText.isOfRedis(me.turn)
            ? Step.redis(label, world -> next(world, me))
            : Step.mysql(label, world -> next(world, me)));
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

  /**
   * Time is not modelled: the entry of a choice is due first, and patience ends with the search.
   */
  private Memory claim(Servers world, Memory me, String first, List<String> due) {
    world.makeFirst(first, due);
    SlotTurn claiming = slotTurn(world, me);
    Stage turn = claiming.next(me.turn);
    GameQueueException failed = claiming.failed(0);
    if (failed != null) {
      throw failed;
    }
    if (turn instanceof Decode of) {
      List<Claim> claims = of.batch().stream().map(world::withPatience).toList();
      turn = new Decode(claims, of.kind(), of.triesLeft(), of.then());
    }
    return at(world, me, turn);
  }

  private SlotTurn slotTurn(Servers world, Memory me) {
    return world.turn(index, name, batch, me.reached);
  }

  /** The step that is next, but for the plants. */
  private Memory next(Servers world, Memory me) {
    if (me.turn instanceof FindOpenings of && plant.has(Plant.Switch.OPENS_NOT_FINISHED)) {
      return at(world, me, of.then());
    }
    if (me.turn instanceof ReassertSession of
        && plant.has(Plant.Switch.OPENS_FINISHED_ALWAYS)
        && of.durable().opening()) {
      SessionScripts.open(world.redis, world.slot, of.owner(), of.durable().newest(), 0, true);
      return at(world, me, of.then());
    }
    Memory next = at(world, me, slotTurn(world, me).next(me.turn));
    return me.turn instanceof Leave ? next.on(Reached.FIRST) : next;
  }

  /** Decodes at once: that calls no server here. */
  private Memory at(Servers world, Memory me, Stage turn) {
    Stage now = turn instanceof Decode ? slotTurn(world, me).next(turn) : turn;
    return me.at(now instanceof End ? claiming() : now);
  }

  // --- flush

  /** Saves waiting for the server's answer where the answer is known. */
  private List<Step> locks(State state, Memory me) {
    boolean waits =
        !plant.has(Plant.Switch.OWNERS_NOT_LOCKED)
            && me.locks().stream().anyMatch(owner -> isLocked(state, owner));
    return waits
        ? List.of()
        : List.of(Step.mysqlRead(name + " locks the sessions", world -> lock(world, state, me)));
  }

  /** Whether a flush has locked the owner's durable session. */
  static boolean isLocked(State state, OwnerId owner) {
    return state.all(Memory.class).anyMatch(w -> w.isFlushing() && w.holds(owner));
  }

  private Memory lock(Servers world, State state, Memory me) throws Step.Blocked {
    FlushInThread flushing = world.beginFlush(this, me);
    if (!flushing.pass()) {
      world.abandonFlush(index);
      throw new Step.Blocked();
    }
    return stands(world, flushing, me.passed(state, flushing));
  }

  private Step flushes(State state, Memory me) {
    if (me.stop == Stop.COMMIT) {
      return Step.mysql(name + " commits", world -> flushOn(world, state, me));
    }
    return state.hasTerms()
        ? Step.mysql(name + " writes, commits", world -> flushOn(world, state, me))
        : Step.mysqlRead(name + " writes", world -> flushOn(world, state, me));
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
    return of.rows().stream().flatMap(rows -> rows.rows().stream()).map(RowChange::key).toList();
  }

  private Memory stands(Servers world, FlushInThread flushing, Memory me) {
    Memory now = flushing.stop() == Stop.DONE ? done(world, flushing, me) : me;
    world.stands(this, now);
    return now;
  }

  private Memory done(Servers world, FlushInThread flushing, Memory me) {
    Stage next = flushing.next();
    if (next instanceof Decode) {
      throw new IllegalStateException("the flush did not commit");
    }
    return at(world, me, next);
  }

  /** A lock that is not given in time, or a deadlock, rolls the flush back; it begins again. */
  Step rollBack(Local local) {
    Memory me = (Memory) local;
    return Step.mysqlRead(
        name + " waits in vain, rolls back",
        world -> {
          world.abandonFlush(index);
          return me.at(me.turn);
        });
  }

  // --- finish

  /** The notice may be lost; where no node can come to replay anything, it always is. */
  private List<Step> acks(State state, Memory me) {
    Step unheard = Step.redis(name + " acks, its notice is lost", world -> ack(world, me, false));
    return state.mayFailOver()
        ? List.of(Step.redis(name + " acks", world -> ack(world, me, true)), unheard)
        : List.of(unheard);
  }

  private Memory ack(Servers world, Memory me, boolean heard) {
    Memory next = next(world, me);
    if (heard) {
      world.hearNews();
    } else {
      world.hearNothing();
    }
    return next;
  }
}

package io.gameq.writer.explorer;

import io.gameq.GameQueueException;
import io.gameq.MySqlException;
import io.gameq.config.Takeover;
import io.gameq.durability.TrackerInSteps;
import io.gameq.node.OpenState;
import io.gameq.node.OpenState.AdoptedRows;
import io.gameq.node.OpenState.Healed;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.rows.Table;
import io.gameq.term.Term;
import io.gameq.view.OwnerView;
import io.gameq.writer.explorer.NodeMemory.Attempt;
import io.gameq.writer.explorer.NodeMemory.Link.Stage;
import io.gameq.writer.explorer.Plant.Switch;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Opens owners: takes the steps of the product's own {@link OpenState}, one operation of one server
 * each. The connection is taken with the epoch, and what comes after the last operation on a server
 * is a step of its own only where a connection may break.
 */
record NodeOpening(GameNodeActor node) {
  List<Step> steps(State state, NodeMemory me, Op.Open open) {
    List<Step> steps = new ArrayList<>();
    Attempt attempt = me.attempt();
    Attempt now = attempt == null ? begun(open, null) : attempt;
    OpeningInWrongOrder planted = now.planted();
    if (planted != null) {
      steps.addAll(planted.steps(this, state, me, now));
    } else {
      steps.addAll(next(state, me, now));
    }
    if (attempt != null && me.attempts() <= node.reopens()) {
      steps.addAll(again(state, me, attempt, open));
    }
    if (attempt != null && node.mayDie()) {
      steps.add(Step.mysqlRead(node.name() + " dies in mid-open", world -> me.died()));
    }
    return steps;
  }

  /** With what an open that was given up had adopted: it is put back. */
  private Attempt begun(Op.Open open, OpenState.@Nullable Lost lost) {
    return new Attempt(
        open.player(),
        opening(Servers.owner(open.player()), List.of(), lost),
        Reached.FIRST,
        OpeningInWrongOrder.of(plant()));
  }

  private static OpenState opening(
      OwnerId owner, List<Table> tables, OpenState.@Nullable Lost lost) {
    return OpenState.of(new OpenState.OpenRequest(owner, tables, Takeover.ALWAYS, false), lost);
  }

  Plant plant() {
    return node.plant();
  }

  private List<Step> next(State state, NodeMemory me, Attempt attempt) {
    String label = label(attempt);
    boolean locked = isLocked(state, attempt);
    OpenState at = attempt.at();
    if (at instanceof OpenState.Begun) {
      return locked || (state.hasTerms() && me.link().stage() != Stage.UP)
          ? List.of()
          : List.of(
              Step.mysql(label + ": epoch into MySQL", world -> raise(world, state, me, attempt)));
    }
    if (at instanceof OpenState.Raised) {
      Step takes =
          Step.redis(label + ": takes over in Redis", world -> take(world, state, me, attempt));
      return List.of(isCutOff(state, attempt) ? takes : takes.at(attempt.by(), state));
    }
    if (at instanceof OpenState.Refused) {
      return List.of(
          Step.mysqlRead(
              label + ": asks MySQL who owns", world -> step(world, state, me, attempt)));
    }
    if (at instanceof OpenState.Missing) {
      return List.of(
          Step.redis(
                  label + ": puts back what it had adopted before",
                  world -> kept(world, state, step(world, state, me, attempt)))
              .at(attempt.by(), state));
    }
    if (at instanceof OpenState.Restored) {
      return List.of(
          Step.redis(
                  label + ": says that it has put that back",
                  world -> kept(world, state, step(world, state, me, attempt)))
              .at(attempt.by(), state));
    }
    if (at instanceof OpenState.InWal
        && plant().has(Switch.OPEN_HOLDS_NO_TERM)
        && isTermToCompare(attempt)) {
      return List.of(
          Step.mysqlRead(label + ": compares the term", world -> compare(world, me, attempt)));
    }
    if (at instanceof OpenState.InWal) {
      return locked
          ? List.of()
          : List.of(
              Step.mysql(
                  label + ": sets it open, reads MySQL",
                  world -> loaded(world, state, step(world, state, me, attempt))));
    }
    if (at instanceof OpenState.Loaded) {
      return List.of(
          Step.redisRead(
                  label + ": looks whether Redis still has it",
                  world -> confirmed(world, state, step(world, state, me, attempt)))
              .at(attempt.by(), state));
    }
    return List.of(Step.redisRead(label + ": has it open", world -> register(world, me, attempt)));
  }

  String label(Attempt attempt) {
    return node.name() + " opens " + attempt.player();
  }

  boolean isLocked(State state, Attempt attempt) {
    return !plant().has(Switch.OWNERS_NOT_LOCKED)
        && FlushWorker.isLocked(state, Servers.owner(attempt.player()));
  }

  /** A former primary answers those that have not left it. */
  private static boolean isCutOff(State state, Attempt attempt) {
    return attempt.isCutOff(state.outages()) && !attempt.by().isFormer(state);
  }

  /** Gives the open up and begins another: its first step at once. */
  private List<Step> again(State state, NodeMemory me, Attempt attempt, Op.Open open) {
    SessionId session = attempt.at().attempt().session();
    if (plant().has(Switch.SAME_EPOCH)) {
      return session == null
          ? List.of()
          : List.of(
              Step.redis(
                  node.name() + " opens again with the same epoch",
                  world -> take(world, state, tried(me), same(world, state, me, session))));
    }
    return isLocked(state, attempt) || plant().has(Switch.EPOCH_AFTER_REDIS)
        ? List.of()
        : List.of(
            Step.mysql(
                node.name() + " opens again: epoch into MySQL",
                world -> raise(world, state, me, begun(open, left(attempt)))));
  }

  private OpenState.@Nullable Lost left(Attempt givenUp) {
    return plant().has(Switch.GIVEN_UP_IS_FORGOTTEN) ? null : givenUp.at().unfinished();
  }

  /** The same session, over the connection that the node has at this moment. */
  private Attempt same(Servers world, State state, NodeMemory me, SessionId session) {
    Attempt attempt = Objects.requireNonNull(me.attempt());
    Reached by = connects(state, me);
    return attempt.next(
        new OpenState.Raised(raised(attempt.at().attempt(), session), healed(world, by)), by);
  }

  static OpenState.Attempt raised(OpenState.Attempt of, SessionId session) {
    return new OpenState.Attempt(of.of(), of.number(), of.atLeast(), session, of.lost());
  }

  NodeMemory tried(NodeMemory me) {
    return me.attempt(me.attempt(), me.attempts() + 1);
  }

  // --- steps

  /** The connection is the one that the node has at this moment. */
  private NodeMemory raise(Servers world, State state, NodeMemory me, Attempt attempt)
      throws Step.Blocked {
    OpeningInWrongOrder planted = attempt.planted();
    if (planted != null) { // it is opened again
      return planted.raise(this, world, state, me, attempt);
    }
    OwnerId owner = Servers.owner(attempt.player());
    OpenState from =
        attempt.at().attempt().number() > 1
            ? attempt.at()
            : opening(owner, world.catalog.ownedBy(owner.kind()), attempt.at().attempt().lost());
    Attempt connected = attempt.next(from, connects(state, me));
    NodeMemory looked = step(world, state, me, connected);
    NodeMemory raised = step(world, state, looked, Objects.requireNonNull(looked.attempt()));
    world.age(owner);
    return tried(raised);
  }

  static Reached connects(State state, NodeMemory me) {
    return state.hasTerms() ? me.link().by() : Reached.newest(state.outages());
  }

  private NodeMemory take(Servers world, State state, NodeMemory me, Attempt attempt)
      throws Step.Blocked {
    NodeMemory taken = step(world, state, me, attempt);
    Attempt now = taken.attempt();
    if (now == null || now.at() instanceof OpenState.Refused) {
      return taken;
    }
    Reached over = state.hasTerms() ? attempt.by() : Reached.newest(state.outages());
    NodeMemory told =
        taken
            .took(Servers.owner(attempt.player()), now.at().attempt().raised())
            .attempt(now.next(now.at(), over), taken.attempts());
    return kept(world, state, told);
  }

  /** The WAL is no server. */
  private NodeMemory kept(Servers world, State state, NodeMemory me) throws Step.Blocked {
    Attempt attempt = me.attempt();
    return attempt != null && attempt.at() instanceof OpenState.Taken
        ? step(world, state, me, attempt)
        : me;
  }

  private static boolean isTermToCompare(Attempt attempt) {
    return attempt.by().term() != Term.NOT_KNOWN;
  }

  /** Who has compared the term compares it no more. */
  private static Reached compared(Reached by) {
    return new Reached(by.outages(), Term.NOT_KNOWN, by.before());
  }

  private static NodeMemory compare(Servers world, NodeMemory me, Attempt attempt) {
    return world.counts(attempt.by())
        ? me.attempt(attempt.next(attempt.at(), compared(attempt.by())), me.attempts())
        : left(me.attempt(null, me.attempts()), attempt);
  }

  /** What is left to do matters only where a connection may break. */
  NodeMemory loaded(Servers world, State state, NodeMemory me) throws Step.Blocked {
    Attempt attempt = me.attempt();
    if (attempt == null || !(attempt.at() instanceof OpenState.Loaded loaded)) {
      return me;
    }
    if (plant().has(Switch.OPEN_NOT_CONFIRMED)) {
      OpenState open =
          new OpenState.Open(loaded.attempt(), loaded.by(), loaded.rows(), loaded.view());
      Attempt now = attempt.next(open, attempt.by());
      return state.mayFailOver() ? me.attempt(now, me.attempts()) : register(world, me, now);
    }
    return state.mayFailOver() ? me : confirmed(world, state, step(world, state, me, attempt));
  }

  /** Who goes over in between, where there are terms, might have done so before. */
  private NodeMemory confirmed(Servers world, State state, NodeMemory me) {
    Attempt attempt = me.attempt();
    return attempt != null
            && attempt.at() instanceof OpenState.Open
            && (state.hasTerms() || !state.mayFailOver())
        ? register(world, me, attempt)
        : me;
  }

  /** The node leaves a primary that does not count any more. */
  static NodeMemory left(NodeMemory me, Attempt attempt) {
    return me.link().by().equals(attempt.by()) && me.link().stage() == Stage.UP
        ? me.link(me.link().broken())
        : me;
  }

  private NodeMemory register(Servers world, NodeMemory me, Attempt attempt) {
    OpenState.Open open = (OpenState.Open) attempt.at();
    OwnerView view = open.view();
    AdoptedRows rows = open.rows();
    long seen = plant().has(Switch.CLOCK_NOT_MOVED_ON) ? 0 : view.highestVersion();
    TreeMap<Integer, Integer> loaded = GameNodeActor.rows(world, view);
    SessionRef ref = new SessionRef(Servers.owner(attempt.player()), open.attempt().raised(), 0);
    TrackerInSteps tracker = TrackerInSteps.of(ref);
    if (!rows.all().isEmpty()) {
      tracker = tracker.adopted(rows.dirty(), rows.claimed(), rows.sequences());
    }
    NodeMemory opened =
        node.settled(
            me.hold(attempt.player(), new NodeMemory.Hold(ref, false, loaded))
                .wal(me.wal().track(attempt.player(), tracker))
                .changes(me.changes(), Math.max(me.lastVersion(), seen))
                .op(me.op() + 1));
    boolean unhealed = attempt.isCutOff(me.link().outages());
    return unhealed && !plant().has(Switch.OPENED_WHILE_HEALING_IS_LEFT)
        ? opened.doubtsRedis()
        : opened;
  }

  NodeMemory failed(NodeMemory me) {
    return node.settled(me.op(me.op() + 1));
  }

  // --- the product

  private NodeMemory step(Servers world, State state, NodeMemory me, Attempt attempt)
      throws Step.Blocked {
    boolean broken =
        isCutOff(state, attempt)
            && !(attempt.at() instanceof OpenState.Raised
                && plant().has(Switch.OPEN_OUTLIVES_ITS_CONNECTION));
    NodePorts ports = new NodePorts(this, world, me, attempt);
    try {
      OpenState now = ports.step(over(world, attempt, broken));
      Attempt next = attempt.next(now, attempt.by());
      NodeMemory after = me.wal(ports.wal()).attempt(next, me.attempts());
      return ports.hasLeft() ? left(after, attempt) : after;
    } catch (MySqlException e) {
      throw new Step.Blocked();
    } catch (GameQueueException e) {
      return failed(me);
    }
  }

  /** The state, over a connection that is broken where it is. */
  private OpenState.PendingOpen over(Servers world, Attempt attempt, boolean broken) {
    Healed by =
        broken
            ? new Healed(world.broken, attempt.by().outages(), Term.NOT_KNOWN)
            : healed(world, attempt.by());
    OpenState at = attempt.at();
    if (at instanceof OpenState.Raised raised) {
      return new OpenState.Raised(raised.attempt(), by);
    }
    if (at instanceof OpenState.Missing missing) {
      return new OpenState.Missing(missing.attempt(), by, missing.rows(), missing.missing());
    }
    if (at instanceof OpenState.Restored putBack) {
      return new OpenState.Restored(putBack.attempt(), by, putBack.rows());
    }
    if (at instanceof OpenState.Loaded loaded) {
      return new OpenState.Loaded(loaded.attempt(), by, loaded.rows(), loaded.view());
    }
    if (at instanceof OpenState.InWal inWal) {
      return new OpenState.InWal(inWal.attempt(), healed(world, attempt.by()), inWal.rows());
    }
    return (OpenState.PendingOpen) at;
  }

  /** As the node knows the primary that it goes by way of. */
  Healed healed(Servers world, Reached by) {
    boolean comparesTerm =
        !plant().has(Switch.OPEN_COMPARES_NO_TERM) && !plant().has(Switch.OPEN_HOLDS_NO_TERM);
    return new Healed(world.redis, by.outages(), comparesTerm ? by.term() : Term.NOT_KNOWN);
  }

  String nonce(int attempt) {
    return node.name().toLowerCase(java.util.Locale.ROOT).repeat(8) + "%08x".formatted(attempt);
  }
}

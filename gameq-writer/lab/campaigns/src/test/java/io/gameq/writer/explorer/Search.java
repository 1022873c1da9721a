package io.gameq.writer.explorer;

import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Explores every interleaving of a scenario on the servers of one world, depth first; a state that
 * was seen before is not explored again. Stops at the first violation.
 */
final class Search {
  /** A drain that takes longer has met something that spins. */
  private static final int MOST_DRAIN_STEPS = 200;

  /** Nodes that heal again and again have met something that does not heal. */
  private static final int MOST_LOOKS = 5;

  private final Servers world;
  private final Scenario scenario;
  private final List<Actor> cast;
  private final int drainer;

  /** Complete paths from each state that was explored; null while it is on the path. */
  private final Map<String, @Nullable BigInteger> schedules = new HashMap<>();

  private final Set<String> drained = new HashSet<>();
  private final Set<String> seenOnce = new HashSet<>();
  private final Deque<String> path = new ArrayDeque<>();
  private long redisSteps;
  private long mysqlSteps;
  private @Nullable String violation;
  private List<String> violationPath = List.of();

  /** What a search found. */
  record Result(
      BigInteger schedules,
      int states,
      int drains,
      long redisSteps,
      long mysqlSteps,
      @Nullable String violation,
      List<String> path) {}

  private Search(Servers world, Scenario scenario) {
    this.world = world;
    this.scenario = scenario;
    this.cast = new ArrayList<>(scenario.cast().apply(world.plant));
    this.drainer = cast.size();
    cast.add(new FlushWorker(drainer, drainer, "D", 1, false, world.plant));
  }

  static Result run(Servers world, Scenario scenario) throws Step.Blocked {
    Search search = new Search(world, scenario);
    State start = search.prepared();
    BigInteger schedules = search.violation != null ? BigInteger.ZERO : search.explore(start);
    return new Result(
        schedules,
        search.schedules.size(),
        search.drained.size(),
        search.redisSteps,
        search.mysqlSteps,
        search.violation,
        search.violationPath);
  }

  private State prepared() throws Step.Blocked {
    State state = world.observe(cast.stream().map(Actor::start).toList());
    for (int i = 0; i < scenario.prepared().size(); i++) {
      if (cast.get(i) instanceof Promotion promotion && scenario.prepared().get(i) > 0) {
        state = take(state, i, promotion.steps(state, state.locals().get(i)).get(0));
      }
      while (cast.get(i) instanceof GameNodeActor node
          && node.isBefore(state.locals().get(i), scenario.prepared().get(i))) {
        state = take(state, i, cast.get(i).steps(state, state.locals().get(i)).get(0));
      }
    }
    for (int i = 0; i < drainer && !state.tables().term().isEmpty(); i++) {
      if (cast.get(i) instanceof FlushWorker worker) {
        state = take(state, i, worker.steps(state, state.locals().get(i)).get(0)); // connects
      }
    }
    return scenario.drainedFirst() ? drain(state) : state;
  }

  private State take(State state, int actor, Step step) throws Step.Blocked {
    Local after = step.run().on(world);
    if (step.server() == Step.Server.REDIS) {
      redisSteps++;
    } else {
      mysqlSteps++;
    }
    return world.observe(state, actor, step, after);
  }

  private BigInteger explore(State state) {
    String key = state.key();
    if (schedules.containsKey(key)) {
      BigInteger known = schedules.get(key);
      return known == null ? BigInteger.ZERO : known; // a loop is no new schedule
    }
    schedules.put(key, null);
    BigInteger sum = BigInteger.ZERO;
    boolean quiet = true;
    boolean last = true;
    int first = Math.floorMod(key.hashCode(), drainer);
    for (int n = 0; n < drainer && violation == null; n++) {
      int i = (first + n) % drainer; // not always the same first: whatever is wrong is found sooner
      Actor actor = cast.get(i);
      quiet &= !(actor instanceof GameNodeActor node && node.isBusy(state, state.locals().get(i)));
      quiet &= !(state.locals().get(i) instanceof FailoverActor.Memory of && of.replica() != null);
      for (Step step : actor.steps(state, state.locals().get(i))) {
        State next = isAllowed(state, i, step) ? next(state, i, step) : null;
        if (next == null) {
          continue;
        }
        last = false;
        quiet &= mayNeverHappen(actor, state.locals().get(i));
        path.addLast(step.label());
        String wrong = Checks.step(state, next);
        if (wrong == null
            && scenario.movingRow() > 0
            && seenOnce.add(State.digest(next.redis().rows() + next.tables()))) {
          wrong = Checks.seenOnce(world, scenario.movingRow());
        }
        if (wrong != null) {
          violated(wrong);
        } else {
          sum = sum.add(explore(next));
        }
        path.removeLast();
        if (violation != null) {
          return sum;
        }
      }
    }
    if (quiet) {
      checkDrained(state);
    }
    BigInteger paths = last ? BigInteger.ONE : sum;
    schedules.put(key, paths);
    return paths;
  }

  private boolean isAllowed(State state, int actor, Step step) {
    for (int i = 0; i < drainer; i++) {
      if (i != actor
          && cast.get(i) instanceof FailoverActor failover
          && !failover.allows((FailoverActor.Memory) state.locals().get(i), step)) {
        return false;
      }
    }
    return true;
  }

  /** The state after a step; null when it waits for a lock. */
  private @Nullable State next(State state, int actor, Step step) {
    world.become(state, step);
    try {
      return take(state, actor, step);
    } catch (Step.Blocked e) {
      if (!(cast.get(actor) instanceof FlushWorker worker)
          || !((FlushWorker.Memory) state.locals().get(actor)).isFlushing()) {
        return null;
      }
      try {
        return take(state, actor, worker.rollBack(state.locals().get(actor)));
      } catch (Step.Blocked impossible) {
        throw new IllegalStateException(impossible);
      }
    }
  }

  /** A worker in mid-flush may be killed; leases and restarts, and reads, need not come. */
  private static boolean mayNeverHappen(Actor actor, Local local) {
    return actor instanceof Reaper
        || actor instanceof FailoverActor
        || actor instanceof Promotion
        || actor instanceof ReadingActor
        || (local instanceof FlushWorker.Memory worker && !worker.isIdle());
  }

  private void violated(String wrong) {
    if (violation == null) {
      violation = wrong;
      violationPath = List.copyOf(path);
    }
  }

  /** With every worker killed, a healthy one must bring everything to MySQL. */
  private void checkDrained(State state) {
    try {
      if (!drained.add(withoutWorkers(state).key())) {
        return;
      }
      world.become(state);
      State end = drain(state);
      end = end.outages() == 0 ? end : lookedFor(end);
      String wrong = Checks.drained(end);
      if (wrong == null && scenario.movingRow() > 0) {
        wrong = Checks.seenOnce(world, scenario.movingRow());
      }
      if (wrong != null) {
        path.addLast("(everyone else killed, drained)");
        violated(wrong);
        path.removeLast();
      }
    } catch (Step.Blocked e) {
      throw new IllegalStateException("the drain waits for a lock at " + path, e);
    }
  }

  private State withoutWorkers(State state) {
    State idle = state;
    for (int i = 0; i < drainer; i++) {
      if (cast.get(i) instanceof FlushWorker || cast.get(i) instanceof Reaper) {
        idle = idle.with(i, cast.get(i).start());
      }
    }
    return idle;
  }

  private State drain(State state) throws Step.Blocked {
    world.abandonFlushes();
    State now = withoutWorkers(state);
    Reaper reaper = new Reaper(1);
    int claims = 0; // in turn: an owner that was given back is due later than the others
    for (int steps = 0; steps < 2 * MOST_DRAIN_STEPS; steps++) {
      world.outOfPatience(steps >= MOST_DRAIN_STEPS);
      List<Step> next = cast.get(drainer).steps(now, now.locals().get(drainer));
      boolean idle = ((FlushWorker.Memory) now.locals().get(drainer)).isIdle();
      if (idle && !now.redis().items("}:lease").isEmpty()) {
        reaper.steps(now, reaper.start()).get(0).run().on(world);
        redisSteps++;
        now = world.observe(now.locals());
      } else if (next.isEmpty()) {
        return now;
      } else {
        now = take(now, drainer, next.get(idle ? claims++ % next.size() : 0));
        String wrong = Checks.step(state, now);
        if (wrong != null) {
          violated(wrong);
          return now;
        }
      }
    }
    path.addLast("(everyone else killed, drained)");
    violated("STRANDED: a healthy worker claims and gives back " + Checks.waiting(now));
    path.removeLast();
    return now;
  }

  /** What nodes find when they look, and heal for it, until nobody finds anything. */
  private State lookedFor(State drained) throws Step.Blocked {
    State now = drained;
    for (int round = 0; round < MOST_LOOKS && violation == null; round++) {
      boolean healed = false;
      for (int i = 0; i < drainer; i++) {
        if (cast.get(i) instanceof GameNodeActor node
            && now.locals().get(i) instanceof NodeMemory memory
            && !memory.dead()) {
          now = now.with(i, new NodeLook(world, node).look(memory));
          while (node.isBusy(now, now.locals().get(i))) {
            now = take(now, i, node.steps(now, now.locals().get(i)).get(0));
            healed = true;
          }
        }
      }
      if (!healed) {
        return now;
      }
      now = drain(now);
    }
    violated("STRANDED: looks never end");
    return now;
  }
}

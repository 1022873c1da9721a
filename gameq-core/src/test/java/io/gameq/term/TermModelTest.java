package io.gameq.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.gameq.term.Term.Primary;
import io.gameq.term.Term.Relation;
import io.gameq.term.Term.TermMovedException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * All interleavings of processes that connect (read the term, see the server, settle) with
 * restarts, promotions and names that are switched, by {@link Terms#settle} itself over a term in
 * memory. Two processes reach Redis by a name that an operator switches, one at the replica's own
 * address, and a stray one at the address of an old Redis that belongs to nobody.
 */
class TermModelTest {
  private static final int PRIMARY = 0;
  private static final int REPLICA = 1;
  private static final int STRAY = 2;
  private static final int NOBODY = -1;

  private static final List<String> OWN = List.of("a", "b", "c");
  private static final List<String> CONFIGURED = List.of("db", "db", "b", "c");
  private static final int ALL = 4;
  private static final int WITHOUT_THE_STRAY_ONE = 3;
  private static final Step IDLE = new Step(null, null, 0, "");

  /** What is planted, to see the model catch it. */
  private enum Planted {
    NOTHING,
    MOVED_WITHOUT_COMPARING,
    MOVED_BY_THE_NUMBER_ALONE,
    TERM_READ_AFTER_THE_SERVER
  }

  private record Server(String run, String repl, String former, int replicaOf) {}

  /** How far a process is: nothing, the term read, the server seen, or a number that it holds. */
  private record Step(@Nullable Term before, @Nullable Primary seen, long number, String run) {}

  private record State(
      List<Server> servers,
      int named,
      int rightful,
      Set<String> left,
      Term term,
      List<Step> steps,
      int ids,
      int restarts,
      int promotions,
      int switches) {
    State servers(int at, Server server, int rightfulNow) {
      List<Server> all = new ArrayList<>(servers);
      all.set(at, server);
      return new State(
          all, named, rightfulNow, left, term, steps, ids, restarts, promotions, switches);
    }

    State step(int process, Step step, Term now, Set<String> leftNow) {
      List<Step> all = new ArrayList<>(steps);
      all.set(process, step);
      all.subList(0, 2).sort(Comparator.comparing(Step::toString)); // which of the two is no matter
      return new State(
          servers, named, rightful, leftNow, now, all, ids, restarts, promotions, switches);
    }

    State used(int id, int restart, int promotion, int switched) {
      return new State(
          servers,
          named,
          rightful,
          left,
          term,
          steps,
          ids + id,
          restarts - restart,
          promotions - promotion,
          switches - switched);
    }

    int at(String address) {
      return address.equals("db") ? named : OWN.indexOf(address);
    }

    Primary seen(String address) {
      Server at = servers.get(at(address));
      return new Primary(at.run, at.repl, at.former, address, Primary.NO_SENTINEL);
    }
  }

  /** gameq_redis_term. */
  private static final class InMemory implements Terms {
    private final Planted planted;
    private Term term;

    InMemory(Term term, Planted planted) {
      this.term = term;
      this.planted = planted;
    }

    @Override
    public Term current() {
      return term;
    }

    @Override
    public boolean moveOn(Term from, Primary to) {
      boolean isNumber =
          planted == Planted.MOVED_WITHOUT_COMPARING || from.number() == term.number();
      boolean isHistory =
          planted == Planted.MOVED_WITHOUT_COMPARING
              || planted == Planted.MOVED_BY_THE_NUMBER_ALONE
              || from.replId().equals(term.replId());
      if (!isNumber || !isHistory) {
        return false;
      }
      term =
          new Term(
              term.number() + 1,
              to.runId(),
              to.replId(),
              to.address(),
              to.sentinelEpoch(),
              term.formersWithThis(),
              0);
      return true;
    }

    @Override
    public void alive(Term of, Primary seen) {
      if (of.number() == term.number()) {
        term =
            new Term(
                term.number(),
                term.runId(),
                seen.replId(),
                of.addressesWith(seen.address()),
                term.sentinelEpoch(),
                term.formers(),
                0);
      }
    }
  }

  private static State start(int processes, int restarts, int promotions) {
    return new State(
        List.of(
            new Server("p1", "rp", "0", NOBODY),
            new Server("q1", "rp", "0", PRIMARY),
            new Server("s1", "rs", "0", NOBODY)),
        PRIMARY,
        PRIMARY,
        Set.of(),
        new Term(1, "p1", "rp", "db", Primary.NO_SENTINEL, "", 86_400_000), // long silent
        Collections.nCopies(processes, IDLE),
        2,
        restarts,
        promotions,
        promotions);
  }

  private static Map<String, State> next(State of, Planted planted) {
    Map<String, State> next = new LinkedHashMap<>();
    for (int p = 0; p < of.steps.size(); p++) {
      connect(of, p, planted, next);
    }
    for (int s = PRIMARY; s <= STRAY && of.restarts > 0; s++) {
      Server was = of.servers.get(s);
      String id = Integer.toString(of.ids);
      String run = was.run.charAt(0) + id;
      boolean isReplica = was.replicaOf != NOBODY;
      State gone = of.used(1, 1, 0, 0);
      next.put(
          "restart of " + OWN.get(s),
          gone.servers(
              s,
              new Server(run, isReplica ? was.repl : "r" + id, "0", was.replicaOf),
              of.rightful));
    }
    for (int s = PRIMARY; s <= REPLICA && of.promotions > 0; s++) {
      Server was = of.servers.get(s);
      if (was.replicaOf != NOBODY) {
        next.put(
            "promotion of " + OWN.get(s),
            of.used(1, 0, 1, 0).servers(s, new Server(was.run, "r" + of.ids, was.repl, NOBODY), s));
      } else if (s != of.rightful) { // what was demoted becomes a replica of what counts
        Server leader = of.servers.get(of.rightful);
        next.put(
            "replica again: " + OWN.get(s),
            of.servers(s, new Server(was.run, leader.repl, "0", of.rightful), of.rightful));
      }
    }
    if (of.switches > 0 && of.named != of.rightful) {
      State used = of.used(0, 0, 0, 1);
      next.put(
          "name switched",
          new State(
              used.servers,
              of.rightful,
              of.rightful,
              of.left,
              of.term,
              of.steps,
              of.ids,
              used.restarts,
              used.promotions,
              used.switches));
    }
    return next;
  }

  private static void connect(State of, int p, Planted planted, Map<String, State> next) {
    Step step = of.steps.get(p);
    String who = "process " + p;
    boolean readsLate = planted == Planted.TERM_READ_AFTER_THE_SERVER;
    if (step.before == null && step.seen == null) {
      Step begun = readsLate ? saw(of, p, null) : new Step(of.term, null, 0, "");
      if (begun != null) {
        next.put(who + " begins to connect", of.step(p, begun, of.term, of.left));
      }
    } else if (step.seen == null) {
      Step saw = saw(of, p, step.before);
      next.put(who + " sees the server", of.step(p, saw == null ? IDLE : saw, of.term, of.left));
      Server formerly = of.servers.get(1 - of.named);
      if (CONFIGURED.get(p).equals("db")
          && of.left.contains(formerly.run)) { // an old answer of DNS
        Primary old =
            new Primary(formerly.run, formerly.repl, formerly.former, "db", Primary.NO_SENTINEL);
        Step sawOld = new Step(step.before, old, 0, "");
        next.put(who + " sees the former server", of.step(p, sawOld, of.term, of.left));
      }
    } else {
      Term before = step.before == null ? of.term : step.before;
      InMemory terms = new InMemory(of.term, planted);
      Step after;
      try {
        after = new Step(null, null, terms.settle(before, step.seen), step.seen.runId());
      } catch (TermMovedException e) {
        after = IDLE;
      }
      Set<String> left = new TreeSet<>(of.left);
      if (terms.term.number() != of.term.number()) {
        left.add(of.term.runId());
      }
      next.put(who + " settles", of.step(p, after, terms.term, left));
    }
  }

  /** Null where no primary answers. */
  private static @Nullable Step saw(State of, int p, @Nullable Term before) {
    String address = CONFIGURED.get(p);
    boolean isReplica = of.servers.get(of.at(address)).replicaOf != NOBODY;
    return isReplica ? null : new Step(before, of.seen(address), 0, "");
  }

  private static String violation(State before, State of) {
    if (of.term.runId().startsWith("s")) {
      return "the stray Redis counts";
    }
    if (before.term.number() != of.term.number()
        && before.left.contains(of.term.runId())
        && of.servers.get(of.rightful).run.charAt(0) != of.term.runId().charAt(0)) {
      return "a primary that was left counts again: " + of.term.runId();
    }
    for (Step step : of.steps) {
      if (step.number == of.term.number() && !step.run.equals(of.term.runId())) {
        return "two servers have the number %s".formatted(step.number);
      }
    }
    boolean someoneCounts =
        List.of("db", "b").stream()
            .filter(address -> of.servers.get(of.at(address)).replicaOf == NOBODY)
            .anyMatch(address -> of.term.relation(of.seen(address)) != Relation.OLDER);
    if (!someoneCounts && of.named == of.rightful) {
      return "nobody can connect: " + of.term + " " + of.servers;
    }
    return "";
  }

  /** How a state was reached first. */
  private record From(State before, String what) {}

  /** Says what went wrong on the shortest way to it; empty when nothing can. */
  private static String explore(Planted planted, int processes, int restarts, int promotions) {
    State start = start(processes, restarts, promotions);
    Map<State, From> seen = new HashMap<>();
    Deque<State> open = new ArrayDeque<>(List.of(start));
    while (!open.isEmpty()) {
      State of = open.poll();
      for (Map.Entry<String, State> step : next(of, planted).entrySet()) {
        String violation = violation(of, step.getValue());
        if (!violation.isEmpty()) {
          return way(seen, start, of) + step.getKey() + " -> " + violation;
        }
        if (seen.putIfAbsent(step.getValue(), new From(of, step.getKey())) == null) {
          open.add(step.getValue());
        }
      }
    }
    System.out.println("term: " + seen.size() + " states");
    return "";
  }

  private static String way(Map<State, From> seen, State start, State to) {
    StringBuilder way = new StringBuilder();
    for (State at = to; !at.equals(start); ) {
      From from = Objects.requireNonNull(seen.get(at));
      way.insert(0, from.what + "; ");
      at = from.before;
    }
    return way.toString();
  }

  @Test
  void noStrayRedisCountsAndNoneThatWasLeftComesBack() {
    assertEquals("", explore(Planted.NOTHING, ALL, 1, 1));
  }

  @Test
  @Tag("long")
  void norAfterMoreRestartsAndPromotions() {
    assertEquals("", explore(Planted.NOTHING, ALL, 2, 1));
    assertEquals("", explore(Planted.NOTHING, WITHOUT_THE_STRAY_ONE, 1, 2));
  }

  @ParameterizedTest
  @CsvSource({"MOVED_WITHOUT_COMPARING, 1, 1", "TERM_READ_AFTER_THE_SERVER, 1, 1"})
  void aRuleThatIsTakenOutIsCaught(Planted planted, int restarts, int promotions) {
    assertNotEquals("", explore(planted, ALL, restarts, promotions));
  }

  @Test
  @Tag("long")
  void aTermThatIsMovedByItsNumberAloneIsCaught() {
    assertNotEquals("", explore(Planted.MOVED_BY_THE_NUMBER_ALONE, WITHOUT_THE_STRAY_ONE, 1, 2));
  }
}

package io.gameq.redis.topic;

import static io.gameq.redis.topic.OwnerCast.A;
import static io.gameq.redis.topic.OwnerCast.NOBODY;
import static io.gameq.redis.topic.OwnerCast.OPENER;
import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.gameq.redis.topic.OwnerCast.Acknowledged;
import io.gameq.redis.topic.OwnerCast.Replica;
import io.gameq.redis.topic.OwnerCast.Taker;
import io.gameq.redis.topic.PlantedScripts.After;
import io.gameq.redis.topic.PlantedScripts.Handled;
import io.gameq.redis.topic.PlantedScripts.Sent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Every interleaving of two processes whose sessions handle the messages of an owner, one that
 * opens owners, and a publisher, on the real Redis with the real scripts. The processes do as
 * OwnerConsumer and TopicSubscription do. Stops at the first violation.
 *
 * <pre>
 * publisher  publishes one message after another
 * A, B       open, taking over from whoever has the owner, and handle | hear that it was taken over
 *            | close | say what has changed, and all of it where that is new or forgotten; the
 *            answer, or the request, is lost | take | commit, or give back | die
 * opener     takes | opens the owner, unless a live process has it | commits, or gives back
 * time       15 s without a word of a process | 5 s | a hint is dropped | a lease ends
 * Redis      fails over to a replica that was behind: publishes and acknowledgements come again,
 *            everybody says all again
 * </pre>
 *
 * Checked in each state: a lane with messages is due, unhandled or claimed (STUCK), and not
 * unhandled alone while who handles it is there and has said all (LEFT). At each take: nobody else
 * has the lane (TWO HANDLERS), nothing that was published before waits (OUT OF ORDER). Only what
 * was not handled yet is acknowledged (HANDLED TWICE), but after a failover: there MySQL decides.
 * From each state all goes on without a fault, once with the owner open at each process that lives
 * and once where nobody opens it but the opener: all messages are handled (NEVER).
 */
final class OwnerExplorer {
  private static final String LANE = "g:";
  private static final int MOST_ROUNDS = 12;
  private static final List<String> NAMES = List.of("A", "B", "");

  /** What the processes do wrong: rules of OwnerConsumer. */
  enum Fault {
    NONE,
    /** A process that gets messages of an owner that it does not handle does not say so. */
    KEEPS_STRANGERS,
    /** A process does not say all again when Redis had forgotten it. */
    SAYS_NOTHING_AGAIN,
    /** The same over a new connection. */
    SAYS_CHANGES_ALONE
  }

  private final PlantedScripts scripts;
  private final Fault fault;
  private final Map<TopicImage, Integer> images = new HashMap<>();
  private final Map<String, After> calls = new HashMap<>();
  private final Set<String> seen = new HashSet<>();
  private final Set<String> endsWell = new HashSet<>();
  private final Deque<Reached> toDo = new ArrayDeque<>();
  private Path path = new Path(null, "");
  private @Nullable String violation;
  private int steps;

  /** How a state was reached. */
  private record Path(@Nullable Path before, String step) {
    @Override
    public String toString() {
      return before == null ? step : before + " | " + step;
    }
  }

  private record Reached(OwnerCast state, Path path) {}

  OwnerExplorer(PlantedScripts scripts, Fault fault) {
    this.scripts = scripts;
    this.fault = fault;
  }

  int states() {
    return seen.size();
  }

  int steps() {
    return steps;
  }

  /** Runs of scripts; the same call on the same image is run once. */
  int calls() {
    return calls.size();
  }

  /** What is wrong, and the shortest way to that; null when nothing is. */
  @Nullable String explore(OwnerCast first) {
    reached(first);
    for (Reached next; violation == null && (next = toDo.poll()) != null; ) {
      path = next.path;
      next(next.state);
    }
    return violation;
  }

  private void reached(OwnerCast state) {
    if (seen.add(key(state) + left(state))) {
      checkFair(state);
      toDo.add(new Reached(state, path));
    }
  }

  private void next(OwnerCast state) {
    if (state.publishes > 0) {
      step(state, "publish", this::publish);
    }
    for (int p = 0; p < OPENER; p++) {
      if (!state.processes[p].isDead) {
        process(state, p);
      }
    }
    if (state.hasOpener) {
      opener(state);
    }
    time(state);
    if (state.failovers > 0) {
      redis(state);
    }
  }

  private void step(OwnerCast from, String name, Consumer<OwnerCast> what) {
    if (violation != null) {
      return;
    }
    OwnerCast after = from.copy();
    Path before = path;
    path = new Path(before, name);
    what.accept(after);
    steps++;
    check(after);
    if (after.wrong == null) {
      reached(after);
    } else {
      violation = after.wrong + ":" + path;
    }
    path = before;
  }

  private static void check(OwnerCast state) {
    if (state.wrong != null || !state.image.keys().containsKey("lane:g")) {
      return;
    }
    TopicImage image = state.image;
    boolean isAwaited = image.get("due", LANE) != null || image.get("claim", LANE) != null;
    if (!isAwaited && image.get("unhandled", LANE) == null) {
      state.wrong = "STUCK";
    } else if (!isAwaited) {
      String handler = image.get("handlers", "g");
      int p = handler == null ? NOBODY : NAMES.indexOf(handler.substring(17));
      if (p != NOBODY && "1".equals(image.get("alive", NAMES.get(p))) && isSettled(state, p)) {
        state.wrong = "LEFT";
      }
    }
  }

  /** Whether it has nothing to say. */
  private static boolean isSettled(OwnerCast state, int p) {
    Taker of = state.processes[p];
    return of.hasSaidAll
        && !of.isForgotten
        && of.unanswered == null
        && of.first.isEmpty()
        && of.changes.isEmpty();
  }

  private After call(TopicImage image, String what, Supplier<After> script) {
    return calls.computeIfAbsent(number(image) + what, key -> script.get());
  }

  private String number(TopicImage image) {
    return images.computeIfAbsent(image, key -> images.size()) + " ";
  }

  /** Equal for states that behave alike when nothing more goes wrong. */
  private String key(OwnerCast state) {
    return number(state.image) + state;
  }

  /** Equal for states in which as much may go wrong. */
  private String left(OwnerCast state) {
    Replica replica = state.replica;
    return state.left()
        + (replica == null ? "" : number(replica.image()) + replica.published() + replica.since());
  }

  // --- publisher

  private static String id(int message) {
    return LANE + (char) ('w' + message);
  }

  private void publish(OwnerCast state) {
    state.publishes--;
    state.image = publish(state.image, ++state.published, false);
  }

  private TopicImage publish(TopicImage image, int message, boolean isAgain) {
    String value = "%016x".formatted(message) + "\0".repeat(14) + "payload";
    return call(
            image,
            "publish " + message + isAgain,
            () -> scripts.publish(image, 10L * message + 1, isAgain, false, id(message), value))
        .image();
  }

  // --- processes

  private void process(OwnerCast state, int p) {
    Taker of = state.processes[p];
    String name = NAMES.get(p);
    if (state.opens > 0 && !state.owns(p) && (p == A || state.processes[A].hasOpened)) {
      step(state, name + " opens", after -> open(after, p));
      if (of.handles != 0) {
        step(
            state,
            name + " opens as it hears that its session is lost",
            after -> openLate(after, p));
      }
    }
    if (!of.hasOpened) {
      return; // it has no consumer
    }
    if (of.handles != 0 && !state.owns(p)) {
      step(state, name + " hears that its session is lost", after -> lost(after, p));
    }
    if (state.owns(p)) {
      step(state, name + " closes", after -> close(after, p));
    }
    if (of.unanswered != null) {
      step(state, name + " has no answer", after -> unanswered(after.processes[p]));
    } else if (of.isForgotten) {
      step(state, name + " says all", after -> sayAll(after, p));
      sayInVain(state, p, true);
    } else if (!isSettled(state, p) || !"1".equals(state.image.get("alive", name))) {
      step(state, name + " says", after -> say(after, p));
      sayInVain(state, p, false);
    }
    if (of.holds != 0) {
      step(state, name + " commits", after -> commit(after, p));
    } else if (of.hasSaidAll && !of.isForgotten && of.first.isEmpty()) {
      step(state, name + " takes", after -> take(after, p));
    }
    if (state.deaths > 0) {
      step(
          state,
          name + " dies",
          after -> {
            after.deaths--;
            after.processes[p].isDead = true;
          });
    }
  }

  private static void open(OwnerCast state, int p) {
    state.opens--;
    state.opened(p);
    Taker of = state.processes[p];
    of.hasOpened = true;
    of.handles = of.session;
    of.changed(of.session, '+');
  }

  /** Two threads: what the lost session did is said behind what the new one does. */
  private static void openLate(OwnerCast state, int p) {
    int lost = state.processes[p].handles;
    open(state, p);
    state.processes[p].changed(lost, '-');
  }

  private static void lost(OwnerCast state, int p) {
    Taker of = state.processes[p];
    of.changed(of.handles, '-');
    of.handles = 0;
    of.session = 0;
  }

  private static void close(OwnerCast state, int p) {
    state.openAt = NOBODY;
    lost(state, p);
  }

  private void say(OwnerCast state, int p) {
    Taker of = state.processes[p];
    boolean isNew = !of.hasSaidAll && fault != Fault.SAYS_CHANGES_ALONE;
    boolean isKnown = say(state, p, poll(of));
    of.hasSaidAll = true;
    of.isForgotten = isNew || (!isKnown && fault != Fault.SAYS_NOTHING_AGAIN);
  }

  private static List<String> poll(Taker of) {
    List<String> some = new ArrayList<>(of.first);
    some.addAll(of.changes);
    of.first = List.of();
    of.changes = List.of();
    return List.copyOf(some);
  }

  private boolean say(OwnerCast state, int p, List<String> some) {
    List<String> args = new ArrayList<>();
    for (String one : some) {
      int epoch = Integer.parseInt(one.substring(0, one.length() - 1));
      args.addAll(List.of("g", "%016x".formatted(epoch), one.endsWith("+") ? "1" : "0"));
    }
    TopicImage before = state.image;
    String name = NAMES.get(p);
    After after = call(before, name + " says " + args, () -> scripts.handle(before, name, args));
    state.image = after.image();
    return (Long) after.reply().get(0) == 1;
  }

  private void sayAll(OwnerCast state, int p) {
    Taker of = state.processes[p];
    if (of.handles != 0) {
      boolean unused = say(state, p, List.of(of.handles + "+"));
    }
    of.isForgotten = false;
  }

  private void sayInVain(OwnerCast state, int p, boolean all) {
    if (state.lostAnswers == 0) {
      return;
    }
    for (boolean arrives : List.of(true, false)) {
      step(
          state,
          NAMES.get(p) + (arrives ? " says without an answer" : " says in vain"),
          after -> {
            after.lostAnswers--;
            Taker of = after.processes[p];
            List<String> some = all ? List.of() : poll(of);
            if (arrives && all) {
              sayAll(after, p);
            } else if (arrives) {
              boolean unused = say(after, p, some);
            }
            of.hasSaidAll = false;
            of.isForgotten = false;
            of.unanswered = some;
          });
    }
  }

  /** What is handled is said anyway over the next connection. */
  private static void unanswered(Taker of) {
    List<String> some = of.unanswered == null ? List.of() : of.unanswered;
    some.stream().filter(one -> one.endsWith("-")).forEach(of::saysFirst);
    of.unanswered = null;
  }

  private void take(OwnerCast state, int p) {
    TopicImage before = state.image;
    String name = NAMES.get(p);
    String token = "T" + name;
    After after = call(before, name + " takes", () -> scripts.take(before, token, name));
    state.image = after.image();
    if (after.reply().size() <= 5) {
      return;
    }
    String id = new String((byte[]) after.reply().get(5), ISO_8859_1);
    int message = id.charAt(id.length() - 1) - 'w';
    state.processes[p].holds = message;
    if (before.isHeld(LANE)) {
      state.wrong = "TWO HANDLERS: " + id;
    }
    for (int earlier = 1; earlier < message; earlier++) {
      if (!state.handled.contains(earlier)) {
        state.wrong = "OUT OF ORDER: " + id;
      }
    }
    if (p != OPENER && state.processes[p].handles == 0) {
      giveBack(state, p, "0");
      if (fault != Fault.KEEPS_STRANGERS) {
        state.processes[p].saysFirst(Integer.MAX_VALUE + "-");
      }
    }
  }

  private void commit(OwnerCast state, int p) {
    if (!state.owns(p)) {
      giveBack(state, p, "0");
      return;
    }
    Taker of = state.processes[p];
    int message = of.holds;
    Acknowledged ack = new Acknowledged(message, p, ++of.acks);
    of.holds = 0;
    if (!acknowledge(state, ack, Sent.FIRST)) {
      return; // its lease had run out
    }
    if (state.handled.contains(message)) {
      state.wrong = state.hasFailedOver ? null : "HANDLED TWICE: " + id(message);
      return;
    }
    List<Integer> handled = new ArrayList<>(state.handled);
    handled.add(message);
    state.handled = List.copyOf(handled);
    if (state.replica != null) {
      List<Acknowledged> since = new ArrayList<>(state.replica.since());
      since.add(ack);
      state.replica =
          new Replica(state.replica.image(), state.replica.published(), List.copyOf(since));
    }
  }

  private boolean acknowledge(OwnerCast state, Acknowledged ack, Sent how) {
    TopicImage before = state.image;
    String name = "T" + NAMES.get(ack.by());
    Handled of = new Handled(id(ack.message()), ack.message(), name);
    After after =
        call(
            before, how.toString() + ack, () -> scripts.ack(before, name, ack.sequence(), how, of));
    state.image = after.image();
    return ((List<?>) after.reply().get(2)).isEmpty();
  }

  private void giveBack(OwnerCast state, int p, String delay) {
    TopicImage before = state.image;
    Taker of = state.processes[p];
    String id = id(of.holds);
    String token = "T" + NAMES.get(p);
    state.image =
        call(
                before,
                token + " gives back " + id + delay,
                () -> scripts.giveBack(before, id, token, delay))
            .image();
    of.holds = 0;
  }

  // --- the opener

  private void opener(OwnerCast state) {
    Taker of = state.processes[OPENER];
    if (of.holds == 0) {
      step(state, "opener takes", after -> take(after, OPENER));
    } else if (of.session == 0) {
      step(state, "opener opens", this::openForMessage);
    } else {
      step(state, "opener commits", this::commitAndClose);
    }
  }

  private void openForMessage(OwnerCast state) {
    if (state.isOpen()) {
      giveBack(state, OPENER, "5000");
    } else {
      state.opened(OPENER);
    }
  }

  private void commitAndClose(OwnerCast state) {
    commit(state, OPENER);
    if (state.owns(OPENER)) {
      state.openAt = NOBODY;
    }
    state.processes[OPENER].session = 0;
  }

  // --- time

  private void time(OwnerCast state) {
    for (int p = 0; p < OPENER; p++) {
      String name = NAMES.get(p);
      boolean isDead = state.processes[p].isDead;
      if ("1".equals(state.image.get("alive", name)) && (isDead || state.stalls > 0)) {
        step(
            state,
            "15 s without " + name,
            after -> {
              after.stalls -= isDead ? 0 : 1;
              after.image = after.image.with("alive", name, "0");
            });
      }
      if (state.image.keys().containsKey("for:" + name)
          && state.image.equals(state.image.secondsLater())) {
        step(
            state,
            "hint for " + name + " dropped",
            after -> after.image = after.image.without("for:" + name));
      }
    }
    step(state, "5 s", after -> after.image = after.image.secondsLater());
    if (state.image.isHeld(LANE)) {
      boolean isDead = isHeldByNobody(state);
      if (isDead || state.leases > 0) {
        step(
            state,
            "lease ends",
            after -> {
              after.leases -= isDead ? 0 : 1;
              after.image = after.image.lapsed(LANE);
            });
      }
    }
  }

  /** By none that lives: a failover can bring a claim back. */
  private static boolean isHeldByNobody(OwnerCast state) {
    for (int p = 0; p <= OPENER; p++) {
      Taker of = state.processes[p];
      if (!of.isDead
          && of.holds != 0
          && state.image.isClaimedBy("T" + NAMES.get(p), LANE, id(of.holds))) {
        return false;
      }
    }
    return state.image.isHeld(LANE);
  }

  // --- Redis

  private void redis(OwnerCast state) {
    if (state.replica == null) {
      step(
          state,
          "the replica falls behind",
          after -> after.replica = new Replica(after.image, after.published, List.of()));
    } else {
      step(state, "failover", this::failOver);
    }
  }

  /** Nobody takes before all has come again. */
  private void failOver(OwnerCast state) {
    Replica to = state.replica;
    if (to == null) {
      return;
    }
    state.failovers--;
    state.hasFailedOver = true;
    state.replica = null;
    state.image = to.image();
    for (int message = to.published() + 1; message <= state.published; message++) {
      state.image = publish(state.image, message, true);
    }
    for (Acknowledged ack : to.since()) {
      boolean unused = acknowledge(state, ack, Sent.AGAIN);
    }
    for (Taker of : state.processes) {
      of.hasSaidAll = false;
      of.isForgotten = false;
    }
  }

  // --- all goes on

  private void checkFair(OwnerCast state) {
    for (int at = 0; violation == null && at <= OPENER; at++) {
      if (at == OPENER
          ? state.hasOpener && (!state.isOpen() || state.openAt == OPENER)
          : mayStayOpen(state, at)) {
        OwnerCast end = state.copy();
        String wrong = goOn(end, at);
        if (wrong != null) {
          violation = wrong + ":" + path + " | all goes on, open at " + at;
        }
      }
    }
  }

  private static boolean mayStayOpen(OwnerCast state, int p) {
    return !state.processes[p].isDead
        && (state.owns(p) || !state.isOpen() || state.openAt == OPENER);
  }

  private @Nullable String goOn(OwnerCast state, int at) {
    if (at != OPENER && !state.owns(at)) {
      open(state, at);
    }
    Set<String> rounds = new HashSet<>();
    while (!endsWell.contains(at + key(state))) {
      if (rounds.size() == MOST_ROUNDS || !rounds.add(at + key(state))) {
        return "NEVER";
      }
      if (isHeldByNobody(state)) {
        state.image = state.image.lapsed(LANE);
      }
      for (int p = 0; p < OPENER; p++) {
        goOn(state, p, at);
      }
      if (at == OPENER) {
        takeAndSettle(state, OPENER);
      }
      if (state.wrong != null) {
        return state.wrong;
      }
      if (!state.image.keys().containsKey("lane:g") && state.image.get("claim", LANE) == null) {
        break;
      }
      state.image = state.image.secondsLater();
    }
    endsWell.addAll(rounds);
    return null;
  }

  private void goOn(OwnerCast state, int p, int at) {
    Taker of = state.processes[p];
    if (of.isDead || !of.hasOpened) {
      if (state.image.get("alive", NAMES.get(p)) != null) {
        state.image = state.image.with("alive", NAMES.get(p), "0");
      }
      return;
    }
    if (of.handles != 0 && !state.owns(p)) {
      lost(state, p);
    }
    if (of.unanswered != null) {
      unanswered(of);
    }
    if (!of.isForgotten) {
      say(state, p);
    }
    if (of.isForgotten) {
      sayAll(state, p);
    }
    takeAndSettle(state, p);
    if (at != OPENER && state.processes[OPENER].holds != 0) {
      takeAndSettle(state, OPENER); // what it has it still gives back
    }
  }

  private void takeAndSettle(OwnerCast state, int p) {
    Taker of = state.processes[p];
    if (of.holds == 0) {
      take(state, p);
    }
    if (p == OPENER && of.holds != 0 && of.session == 0) {
      openForMessage(state);
    }
    if (of.holds != 0 && p == OPENER) {
      commitAndClose(state);
    } else if (of.holds != 0) {
      commit(state, p);
    }
  }
}

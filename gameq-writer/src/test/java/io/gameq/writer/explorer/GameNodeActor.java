package io.gameq.writer.explorer;

import io.gameq.Row;
import io.gameq.change.Commit;
import io.gameq.change.VersionClock;
import io.gameq.durability.TrackerInSteps;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.script.CommitWire;
import io.gameq.redis.script.CommitWire.Answer;
import io.gameq.redis.script.OpenScript;
import io.gameq.redis.script.OwnKey;
import io.gameq.term.Term;
import io.gameq.term.TermMovedException;
import io.gameq.view.ViewInSteps;
import io.gameq.writer.explorer.MadeChange.Status;
import io.gameq.writer.explorer.NodeMemory.Attempt;
import io.gameq.writer.explorer.NodeMemory.Link.Stage;
import io.gameq.writer.explorer.Plant.Switch;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A game node: opens owners in the steps of {@code GameNode.open}, commits as {@code CommitSender}
 * does, and heals as {@link NodeHealing} says.
 *
 * @param ops what the game does, in order
 * @param clockMillis what its clock shows
 * @param reopens how often an attempt to open may be given up and made again
 * @param mayDie whether it may die in mid-open
 */
record GameNodeActor(
    String name, List<Op> ops, long clockMillis, int reopens, boolean mayDie, Plant plant)
    implements Actor {

  /** The steps of open. */
  enum Opening {
    RAISE,
    TAKE,
    /** The term is compared by itself, where a plant wants that. */
    COMPARE,
    /** The rows are read in the transaction that sets the session open: one step. */
    LOAD,
    /** The same in two, where a plant wants them apart. */
    READ,
    MARK,
    /** Whether Redis still has the session, over the connection over which it was told. */
    CONFIRM,
    /** The node knows of its session, and heals it with the others from now on. */
    REGISTER
  }

  @Override
  public NodeMemory start() {
    return NodeMemory.of(name);
  }

  /** Whether the node has anything left to do, if only waiting for a lock. */
  boolean isBusy(State state, Local local) {
    NodeMemory me = (NodeMemory) local;
    return !me.dead() && (me.op() < ops.size() || !me.isHealed(state));
  }

  /** Whether the node has done all that the game wanted. */
  boolean isDone(NodeMemory me) {
    return me.op() == ops.size();
  }

  /** Whether the node has not done all that the game wanted, up to an op. */
  boolean isBefore(Local local, int op) {
    return ((NodeMemory) local).op() < op;
  }

  @Override
  public List<Step> steps(State state, Local local) {
    NodeMemory me = (NodeMemory) local;
    if (me.dead()) {
      return List.of();
    }
    List<Step> steps = new ArrayList<>();
    if (me.op() < ops.size() && ops.get(me.op()) instanceof Op.Start start) {
      return starts(state, me, start);
    }
    if (me.op() < ops.size() && ops.get(me.op()) instanceof Op.Open open) {
      openSteps(state, me, open, steps);
    } else if (me.op() < ops.size() && ops.get(me.op()) instanceof Op.Look look) {
      steps.addAll(NodeLook.steps(this, state, me, look.player()));
    } else if (me.maySend(state) && me.op() < ops.size()) {
      commitSteps(state, me, (Op.Commit) ops.get(me.op()), steps);
    }
    steps.addAll(new NodeHealing(this).steps(state, me));
    return steps;
  }

  /** Connects for the first time. */
  private List<Step> starts(State state, NodeMemory me, Op.Start start) {
    Reached by = me.link().by();
    List<Step> steps = new ArrayList<>();
    if (by.before() != null) {
      steps.add(Step.mysql(name + " settles the term", world -> settles(world, me, by)));
    } else {
      steps.add(connects("newest", me, state.outages()));
      if (start.formerToo() && state.former() != null) {
        steps.add(connects("former", me, 0));
      }
    }
    return steps;
  }

  private Step connects(String which, NodeMemory me, int outages) {
    return Step.mysqlRead(
        "%s reads the term, connects to the %s primary".formatted(name, which),
        world -> me.link(me.link().connected(world.connect(outages))));
  }

  private static NodeMemory settles(Servers world, NodeMemory me, Reached connected) {
    try {
      Reached settled = world.settle(connected);
      return me.op(me.op() + 1).link(me.link().connected(settled));
    } catch (TermMovedException e) { // it tries again
      return me.link(me.link().connected(Reached.FIRST));
    }
  }

  // --- open

  /** By way of which primary an attempt to open goes. */
  private static Reached by(State state, NodeMemory me) {
    Attempt attempt = me.attempt();
    if (attempt != null) {
      return attempt.by();
    }
    return state.hasTerms() ? me.link().by() : Reached.newest(state.outages());
  }

  /** A former primary answers those that have not left it. */
  private static boolean isCutOff(State state, Attempt attempt) {
    return attempt.isCutOff(state.outages()) && !attempt.by().isFormer(state);
  }

  private List<Opening> order() {
    List<Opening> order = new ArrayList<>(List.of(Opening.RAISE, Opening.TAKE, Opening.LOAD));
    if (plant.has(Switch.MYSQL_READ_FIRST)) {
      order = new ArrayList<>(List.of(Opening.RAISE, Opening.READ, Opening.TAKE, Opening.MARK));
    } else if (plant.has(Switch.EPOCH_AFTER_REDIS)) {
      order = new ArrayList<>(List.of(Opening.TAKE, Opening.READ, Opening.RAISE, Opening.MARK));
    } else if (plant.has(Switch.FENCED_AFTER_READING)) {
      order = new ArrayList<>(List.of(Opening.RAISE, Opening.TAKE, Opening.READ, Opening.MARK));
    }
    if (plant.has(Switch.OPEN_HOLDS_NO_TERM)) {
      order.add(order.indexOf(Opening.LOAD), Opening.COMPARE);
    }
    if (!plant.has(Switch.OPEN_NOT_CONFIRMED)) {
      order.add(Opening.CONFIRM);
    }
    order.add(Opening.REGISTER);
    return order;
  }

  private void openSteps(State state, NodeMemory me, Op.Open open, List<Step> steps) {
    OwnerId owner = Servers.owner(open.player());
    Attempt attempt = me.attempt();
    Opening stage = order().get(attempt == null ? 0 : attempt.stage());
    String label = name + " opens " + open.player();
    boolean locked = !plant.has(Switch.OWNERS_NOT_LOCKED) && FlushWorker.isLocked(state, owner);
    switch (stage) {
      case RAISE -> {
        if (!locked && !(state.hasTerms() && me.link().stage() != Stage.UP)) {
          steps.add(
              Step.mysql(label + ": epoch into MySQL", world -> raise(world, state, me, open)));
        }
      }
      case TAKE -> {
        if (attempt != null
            && isCutOff(state, attempt)
            && !plant.has(Switch.OPEN_OUTLIVES_ITS_CONNECTION)) {
          steps.add(
              Step.redisRead(
                  label + ": its connection is broken", world -> settled(me.op(me.op() + 1))));
        } else {
          steps.add(
              Step.redis(label + ": takes over in Redis", world -> take(world, state, me, open))
                  .at(by(state, me), state));
        }
      }
      case COMPARE ->
          steps.add(Step.mysqlRead(label + ": compares the term", world -> compare(world, me)));
      case LOAD -> {
        if (!locked) {
          steps.add(
              Step.mysql(label + ": sets it open, reads MySQL", world -> load(world, state, me)));
        }
      }
      case READ -> steps.add(Step.mysqlRead(label + ": reads MySQL", world -> read(world, me)));
      case MARK -> {
        if (!locked) {
          steps.add(Step.mysql(label + ": sets it open", world -> mark(world, state, me)));
        }
      }
      case CONFIRM ->
          steps.add(
              Step.redisRead(
                      label + ": looks whether Redis still has it",
                      world -> confirm(world, state, me))
                  .at(by(state, me), state));
      case REGISTER ->
          steps.add(Step.redisRead(label + ": has it open", world -> register(world, me)));
    }
    if (attempt != null && me.attempts() <= reopens) {
      steps.addAll(againSteps(state, me, open));
    }
    if (attempt != null && mayDie) {
      steps.add(Step.mysqlRead(name + " dies in mid-open", world -> me.died()));
    }
  }

  /** Gives the attempt up and begins another: its first step at once. */
  private List<Step> againSteps(State state, NodeMemory me, Op.Open open) {
    OwnerId owner = Servers.owner(open.player());
    if (plant.has(Switch.SAME_EPOCH)) {
      Attempt same =
          Attempt.of(
              open.player(), 1, Objects.requireNonNull(me.attempt()).session(), by(state, me));
      return List.of(
          Step.redis(
              name + " opens again with the same epoch",
              world -> take(world, state, me.attempt(same, me.attempts() + 1), open)));
    }
    if (order().get(0) != Opening.RAISE || FlushWorker.isLocked(state, owner)) {
      return List.of();
    }
    return List.of(
        Step.mysql(
            name + " opens again: epoch into MySQL",
            world -> raise(world, state, me.attempt(null, me.attempts()), open)));
  }

  private NodeMemory raise(Servers world, State state, NodeMemory me, Op.Open open)
      throws Step.Blocked {
    Attempt attempt = me.attempt();
    OwnerId owner = Servers.owner(open.player());
    String nonce = attempt == null ? nonce(me.attempts()) : attempt.session().nonce();
    SessionId session;
    try {
      session =
          world.sessions.raise(owner, nonce, name, attempt == null ? 0 : attempt.session().epoch());
    } catch (io.gameq.MySqlException e) {
      throw new Step.Blocked();
    }
    world.age(owner);
    Attempt raised =
        attempt == null
            ? Attempt.of(open.player(), 1, session, by(state, me))
            : attempt.raised(session);
    return me.attempt(raised, attempt == null ? me.attempts() + 1 : me.attempts());
  }

  private String nonce(int attempt) {
    return name.toLowerCase(java.util.Locale.ROOT).repeat(8) + "%08x".formatted(attempt);
  }

  private NodeMemory take(Servers world, State state, NodeMemory me, Op.Open open) {
    OwnerId owner = Servers.owner(open.player());
    Attempt attempt = me.attempt();
    if (attempt == null) { // planted: the epoch is not in MySQL yet
      TableImage.DurableSession now = state.tables().sessions().get(owner.encoded());
      SessionId next = new SessionId(now == null ? 1 : now.epoch() + 1, nonce(me.attempts()));
      attempt = Attempt.of(open.player(), 0, next, Reached.FIRST);
    }
    OpenScript.Outcome outcome =
        OpenScript.call(world.redis, world.slot, owner, attempt.session(), 0);
    if (!(outcome instanceof OpenScript.Opened opened)) {
      return settled(me.op(me.op() + 1));
    }
    Attempt taken = attempt.taken(opened.dirty(), opened.claimed(), over(state, attempt));
    NodeWal wal = me.wal();
    if (!taken.unflushed().isEmpty()) {
      wal =
          wal.appended(
              NodeWal.ADOPTED,
              List.of(NodeWal.part(owner.encoded(), attempt.session().text(), taken.unflushed())));
    }
    return me.wal(wal).took(owner, attempt.session()).attempt(taken, me.attempts());
  }

  /** By way of which primary Redis was told. */
  private static Reached over(State state, Attempt attempt) {
    return state.hasTerms() ? attempt.by() : Reached.newest(state.outages());
  }

  private NodeMemory load(Servers world, State state, NodeMemory me) throws Step.Blocked {
    Attempt attempt = Objects.requireNonNull(me.attempt());
    ViewInSteps.Snapshot snapshot;
    try {
      snapshot = snapshot(world, attempt, attempt.session());
    } catch (io.gameq.MySqlException e) {
      throw new Step.Blocked();
    } catch (TermMovedException e) {
      return demoted(me, attempt);
    }
    return snapshot == null
        ? settled(me.op(me.op() + 1))
        : opened(world, state, me.attempt(attempt.read(snapshot), me.attempts()));
  }

  private static NodeMemory compare(Servers world, NodeMemory me) {
    Attempt attempt = Objects.requireNonNull(me.attempt());
    return world.counts(attempt.by())
        ? me.attempt(attempt.next(), me.attempts())
        : demoted(me, attempt);
  }

  /** Opens again, once it has left the primary that does not count any more. */
  private static NodeMemory demoted(NodeMemory me, Attempt attempt) {
    NodeMemory refused = me.attempt(null, me.attempts());
    return me.link().by().equals(attempt.by()) && me.link().stage() == Stage.UP
        ? refused.link(me.link().broken())
        : refused;
  }

  /** What is left to do matters only where a connection may break. */
  private NodeMemory opened(Servers world, State state, NodeMemory me) {
    return state.mayFailOver() ? me : register(world, me);
  }

  private NodeMemory read(Servers world, NodeMemory me) {
    Attempt attempt = Objects.requireNonNull(me.attempt());
    ViewInSteps.Snapshot snapshot = Objects.requireNonNull(snapshot(world, attempt, null));
    return me.attempt(attempt.read(snapshot), me.attempts());
  }

  private static ViewInSteps.@Nullable Snapshot snapshot(
      Servers world, Attempt attempt, @Nullable SessionId session) {
    return ViewInSteps.snapshot(
        world.reader,
        world.catalog,
        Servers.owner(attempt.player()),
        session,
        comparesTerm(world.plant) ? attempt.by().term() : Term.NOT_KNOWN,
        attempt.unflushed());
  }

  private static boolean comparesTerm(Plant plant) {
    return !plant.has(Switch.OPEN_COMPARES_NO_TERM) && !plant.has(Switch.OPEN_HOLDS_NO_TERM);
  }

  private NodeMemory mark(Servers world, State state, NodeMemory me) throws Step.Blocked {
    Attempt attempt = Objects.requireNonNull(me.attempt());
    try {
      return world.sessions.markOpen(Servers.owner(attempt.player()), attempt.session())
          ? opened(world, state, me.attempt(attempt.next(), me.attempts()))
          : settled(me.op(me.op() + 1));
    } catch (io.gameq.MySqlException e) {
      throw new Step.Blocked();
    }
  }

  /** Else opens again, with a new session. */
  private NodeMemory confirm(Servers world, State state, NodeMemory me) {
    Attempt attempt = Objects.requireNonNull(me.attempt());
    SessionId owns = OwnKey.session(world.redis, world.slot, Servers.owner(attempt.player()));
    if (owns != null && owns.isNewerThan(attempt.session())) {
      return settled(me.op(me.op() + 1));
    }
    if (!attempt.session().equals(owns) || isCutOff(state, attempt)) {
      return me.attempt(null, me.attempts());
    }
    return state.hasTerms() // who goes over in between might have done so before
        ? register(world, me)
        : me.attempt(attempt.next(), me.attempts());
  }

  private NodeMemory register(Servers world, NodeMemory me) {
    Attempt attempt = Objects.requireNonNull(me.attempt());
    OwnerId owner = Servers.owner(attempt.player());
    ViewInSteps view =
        ViewInSteps.of(
            owner,
            world.catalog,
            world.codec,
            attempt.unflushed(),
            Objects.requireNonNull(attempt.snapshot()));
    long seen = plant.has(Switch.CLOCK_NOT_MOVED_ON) ? 0 : view.highestVersion();
    TreeMap<Integer, Integer> loaded = rows(world, view);
    SessionRef ref = new SessionRef(owner, attempt.session(), 0);
    TrackerInSteps tracker = TrackerInSteps.of(ref);
    if (!attempt.unflushed().isEmpty()) { // nothing was appended to the WAL since
      tracker = tracker.adopted(attempt.dirty(), attempt.claimed(), me.wal().newestSequence());
    }
    NodeMemory opened =
        settled(
            me.hold(attempt.player(), new NodeMemory.Hold(ref, false, loaded))
                .wal(me.wal().track(attempt.player(), tracker))
                .changes(me.changes(), Math.max(me.lastVersion(), seen))
                .op(me.op() + 1));
    boolean unhealed = attempt.isCutOff(me.link().outages());
    return unhealed && !plant.has(Switch.OPENED_WHILE_HEALING_IS_LEFT)
        ? opened.doubtsRedis()
        : opened;
  }

  /** Item ids and counts. */
  static TreeMap<Integer, Integer> rows(Servers world, ViewInSteps view) {
    TreeMap<Integer, Integer> rows = new TreeMap<>();
    for (Row row : view.rows(world.item)) {
      rows.put(
          Objects.requireNonNull(row.getLong("id")).intValue(),
          Objects.requireNonNull(row.getLong("count")).intValue());
    }
    return rows;
  }

  private VersionClock clock(NodeMemory me) {
    VersionClock clock = new VersionClock(() -> clockMillis);
    clock.observe(me.lastVersion());
    return clock;
  }

  // --- commit

  private void commitSteps(State state, NodeMemory me, Op.Commit op, List<Step> steps) {
    String label = name + " commits " + (me.op() + 1);
    Reached to = me.link().by();
    steps.add(Step.redis(label, world -> commit(world, me, op)).at(to, state));
    if (op.mayBeLost()) {
      steps.add(Step.mysqlRead(label + ", request lost", world -> broken(world, me, op, false)));
      steps.add(
          Step.redis(label + ", reply lost", world -> broken(world, me, op, true)).at(to, state));
    }
  }

  private Outgoing outgoing(Servers world, NodeMemory me, Op.Commit op, int at) {
    return Outgoing.of(world, me, op, plant.has(Switch.MOVE_AS_DELETE_AND_INSERT), at);
  }

  private NodeMemory commit(Servers world, NodeMemory me, Op.Commit op) {
    Outgoing out = outgoing(world, me, op, me.op());
    NodeMemory now = journaled(me, out);
    Answer answer = Answer.APPLIED;
    for (Commit commit : out.commits(plant.has(Switch.SPANNING_AS_MULTIS))) {
      Answer one = CommitWire.first(world.redis, world.slot, name, commit);
      answer = one == Answer.APPLIED || plant.has(Switch.OWN_NOT_CHECKED) ? answer : one;
    }
    return switch (answer) {
      case APPLIED ->
          settled(
              now.wal(now.wal().queued(op, out.commits(false).get(0)))
                  .told(me.op(), Status.ACKNOWLEDGED)
                  .op(me.op() + 1));
      case NEWER_SESSION ->
          settled(loseRefused(world, now.told(me.op(), Status.REFUSED), op).op(me.op() + 1));
      case FORGOTTEN, FORGOTTEN_WRITTEN -> forgotten(now);
    };
  }

  /** Into the WAL, with its version. */
  private NodeMemory journaled(NodeMemory me, Outgoing out) {
    long version = clock(me).next(2);
    List<MadeChange> all = new ArrayList<>(me.changes());
    all.addAll(out.versioned(version, me.wal().newestSequence() + 1));
    return me.changes(all, version)
        .wal(me.wal().appended(me.op(), NodeWal.parts(out.commits(false).get(0))));
  }

  /** What else Redis forgot, the marks of commits since then do not tell. */
  private NodeMemory forgotten(NodeMemory me) {
    NodeWal wal = me.wal();
    return settled(me.op(me.op() + 1))
        .wal(
            plant.has(Switch.MARKS_TRUSTED_ALWAYS) ? wal : wal.owing(wal.owed().distrustingMarks()))
        .link(me.link().broken());
  }

  /** Marks the sessions lost that Redis names a newer one for. */
  private static NodeMemory loseRefused(Servers world, NodeMemory me, Op.Commit op) {
    NodeMemory now = me;
    for (Op.Part part : op.parts()) {
      NodeMemory.Hold hold = now.holds().get(part.player());
      String own =
          RedisImage.take(world.redis, world.namespace)
              .items("}:own:" + Servers.owner(part.player()).encoded())
              .stream()
              .findFirst()
              .orElse("");
      if (hold != null && own.compareTo(hold.session().text()) > 0) {
        now = now.lose(part.player());
      }
    }
    return now;
  }

  private NodeMemory broken(Servers world, NodeMemory me, Op.Commit op, boolean arrives) {
    Outgoing out = outgoing(world, me, op, me.op());
    NodeMemory now = journaled(me, out);
    if (arrives) {
      out.commits(plant.has(Switch.SPANNING_AS_MULTIS))
          .forEach(commit -> CommitWire.first(world.redis, world.slot, name, commit));
    }
    return settled(now.op(me.op() + 1)).link(me.link().broken());
  }

  /** What a commit without an answer was, to be sent again. */
  Commit sentBefore(Servers world, NodeMemory me, int op) {
    Outgoing out = outgoing(world, me, (Op.Commit) ops.get(op), op);
    long version =
        me.changes().stream()
            .filter(change -> change.commit() == op)
            .mapToLong(MadeChange::version)
            .max()
            .orElseThrow();
    out.versioned(version, me.wal().sequenceOf(op));
    return out.commits(false).get(0);
  }

  /** Skips what lost sessions cannot do any more. */
  NodeMemory settled(NodeMemory memory) {
    NodeMemory me = memory;
    while (me.op() < ops.size()
        && ops.get(me.op()) instanceof Op.Commit commit
        && !me.holdsAll(commit)) {
      me = me.op(me.op() + 1);
    }
    return me;
  }
}

package io.gameq.writer.explorer;

import io.gameq.Row;
import io.gameq.change.Commit;
import io.gameq.change.VersionClock;
import io.gameq.redis.script.CommitWire;
import io.gameq.redis.script.CommitWire.Answer;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.rows.RowImage;
import io.gameq.rows.TableRow;
import io.gameq.term.Term.TermMovedException;
import io.gameq.view.OwnerView;
import io.gameq.writer.explorer.MadeChange.Status;
import io.gameq.writer.explorer.Plant.Switch;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;

/**
 * A game node: opens owners as {@link NodeOpening} says, commits as {@code CommitSender} does, and
 * heals as {@link NodeHealing} says.
 *
 * @param ops what the game does, in order
 * @param clockMillis what its clock shows
 * @param reopens how often an attempt to open may be given up and made again
 * @param mayDie whether it may die in mid-open
 */
record GameNodeActor(
    String name, List<Op> ops, long clockMillis, int reopens, boolean mayDie, Plant plant)
    implements Actor {

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
      steps.addAll(new NodeOpening(this).steps(state, me, open));
    } else if (me.op() < ops.size() && ops.get(me.op()) instanceof Op.Look look) {
      steps.addAll(NodeLook.steps(this, state, me, look.player()));
    } else if (me.op() < ops.size() && ops.get(me.op()) instanceof Op.Hear hear) {
      steps.add(
          Step.redis(
              name + " is told of what was sent to " + hear.player(),
              world -> settled(RowsHeard.by(world, me, hear.player()).op(me.op() + 1))));
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

  /** Item ids and counts. */
  static TreeMap<Integer, Integer> rows(Servers world, OwnerView view) {
    TreeMap<Integer, Integer> rows = new TreeMap<>();
    for (RowImage image : view.rows(world.item)) {
      Row row = new TableRow(world.item, image.values());
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
    NodeMemory from = me.withInboxes(op);
    Outgoing out = outgoing(world, from, op, me.op());
    NodeMemory now = journaled(from, out);
    Answer answer = Answer.APPLIED;
    SlotMarks marks = new SlotMarks(now.wal().marks());
    for (Commit commit : out.commits(plant.has(Switch.SPANNING_AS_MULTIS))) {
      Answer one = CommitWire.first(world.redis, world.slot, name, commit, marks);
      answer = one == Answer.APPLIED || plant.has(Switch.OWN_NOT_CHECKED) ? answer : one;
    }
    now = now.wal(now.wal().marks(marks));
    NodeMemory applied =
        now.wal(now.wal().queued(op, out.commits(false).get(0)))
            .told(me.op(), Status.ACKNOWLEDGED)
            .op(me.op() + 1);
    return switch (answer) {
      case APPLIED -> settled(applied);
      case APPLIED_AFTER_A_LOSS -> settled(applied).doubtsRedis();
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

  /** What else Redis forgot, is owed. */
  private NodeMemory forgotten(NodeMemory me) {
    NodeMemory now = settled(me.op(me.op() + 1));
    return plant.has(Switch.MARKS_TRUSTED_ALWAYS)
        ? now.link(me.link().broken())
        : now.doubtsRedis();
  }

  /** Marks the sessions lost that Redis names a newer one for. */
  private static NodeMemory loseRefused(Servers world, NodeMemory me, Op.Commit op) {
    NodeMemory now = me;
    for (Op.Part part : op.parts()) {
      NodeMemory.Hold hold = now.holds().get(part.hold());
      String own =
          RedisImage.take(world.redis, world.namespace)
              .items("}:own:" + Servers.owner(part.player()).encoded())
              .stream()
              .findFirst()
              .orElse("");
      if (hold != null && part.hold() > 0 && own.compareTo(hold.session().text()) > 0) {
        now = now.lose(part.player());
      }
    }
    return now;
  }

  private NodeMemory broken(Servers world, NodeMemory me, Op.Commit op, boolean arrives) {
    NodeMemory from = me.withInboxes(op);
    Outgoing out = outgoing(world, from, op, me.op());
    NodeMemory now = journaled(from, out);
    if (arrives) {
      SlotMarks unheard = new SlotMarks(now.wal().marks());
      out.commits(plant.has(Switch.SPANNING_AS_MULTIS))
          .forEach(commit -> CommitWire.first(world.redis, world.slot, name, commit, unheard));
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

package io.gameq.writer.explorer;

import io.gameq.OwnerId;
import io.gameq.Row;
import io.gameq.SessionId;
import io.gameq.ViewInSteps;
import io.gameq.catalog.RowCodec;
import io.gameq.commit.Commit;
import io.gameq.commit.VersionClock;
import io.gameq.mysql.OpenMark;
import io.gameq.redis.CommitWire;
import io.gameq.redis.CommitWire.Answer;
import io.gameq.redis.OpenScript;
import io.gameq.redis.SessionScripts;
import io.gameq.redis.UnflushedRow;
import io.gameq.writer.explorer.Change.Status;
import io.gameq.writer.explorer.Plant.Switch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A game node: opens owners in the steps of {@code GameNode.open}, commits as {@code CommitSender}
 * does, and heals in the steps of {@code Healing}.
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
  enum Stage {
    RAISE,
    TAKE,
    READ,
    MARK
  }

  /** Where a node stands with its connection to Redis. */
  enum Link {
    UP,
    BROKEN,
    /** Connected again; sessions were read in MySQL. */
    HEALING
  }

  /** A session that the node holds. */
  record Hold(
      SessionId session, boolean lost, TreeMap<Integer, Integer> loaded, int restartsAtTake) {
    Hold asLost() {
      return new Hold(session, true, loaded, restartsAtTake);
    }
  }

  /** An attempt to open that is under way. */
  record Attempt(
      int player,
      int stage,
      SessionId session,
      List<UnflushedRow> unflushed,
      ViewInSteps.@Nullable Snapshot snapshot,
      int restartsAtTake) {
    /** Whether the connection that was taken for the attempt broke before Redis knew of it. */
    boolean isCutOff(int restarts) {
      return restartsAtTake < restarts;
    }

    Attempt then(List<UnflushedRow> rows, ViewInSteps.@Nullable Snapshot read, int restarts) {
      return new Attempt(player, stage + 1, session, rows, read, restarts);
    }

    @Override
    public String toString() {
      return player
          + " "
          + stage
          + " "
          + session
          + " "
          + unflushed.stream().map(row -> row.key() + RowCodec.version(row.image())).toList()
          + (snapshot == null ? "" : snapshot.toString());
    }
  }

  /** What a node remembers. */
  record Memory(
      String name,
      TreeMap<Integer, Hold> holds,
      int op,
      @Nullable Attempt attempt,
      int attempts,
      boolean dead,
      long lastVersion,
      List<Change> changes,
      Link link,
      int reasserted,
      int restarts)
      implements Local {
    @Override
    public String text() {
      return toString();
    }

    Memory op(int next) {
      return new Memory(
          name,
          holds,
          next,
          null,
          attempts,
          dead,
          lastVersion,
          changes,
          link,
          reasserted,
          restarts);
    }

    Memory attempt(@Nullable Attempt now, int tried) {
      return new Memory(
          name, holds, op, now, tried, dead, lastVersion, changes, link, reasserted, restarts);
    }

    Memory died() {
      return new Memory(
          name,
          holds,
          op,
          attempt,
          attempts,
          true,
          lastVersion,
          changes,
          link,
          reasserted,
          restarts);
    }

    Memory hold(int player, Hold hold) {
      TreeMap<Integer, Hold> now = new TreeMap<>(holds);
      now.put(player, hold);
      return new Memory(
          name, now, op, attempt, attempts, dead, lastVersion, changes, link, reasserted, restarts);
    }

    Memory lose(int player) {
      return hold(player, Objects.requireNonNull(holds.get(player)).asLost());
    }

    Memory changes(List<Change> now, long version) {
      return new Memory(
          name,
          holds,
          op,
          attempt,
          attempts,
          dead,
          version,
          List.copyOf(now),
          link,
          reasserted,
          restarts);
    }

    Memory link(Link now, int asserted, int seenRestarts) {
      return new Memory(
          name,
          holds,
          op,
          attempt,
          attempts,
          dead,
          lastVersion,
          changes,
          now,
          asserted,
          seenRestarts);
    }

    boolean holdsAll(Op.Commit commit) {
      return commit.parts().stream()
          .allMatch(
              part -> {
                Hold hold = holds.get(part.player());
                return hold != null && !hold.lost;
              });
    }
  }

  @Override
  public Memory start() {
    return new Memory(name, new TreeMap<>(), 0, null, 0, false, 0, List.of(), Link.UP, 0, 0);
  }

  /** Whether the node has anything left to do, if only waiting for a lock. */
  boolean isBusy(Local local) {
    Memory me = (Memory) local;
    return !me.dead && (me.op < ops.size() || me.link != Link.UP);
  }

  /** Whether the node has not done all that the game wanted, up to an op. */
  boolean isBefore(Local local, int op) {
    return ((Memory) local).op < op;
  }

  @Override
  public List<Step> steps(State state, Local local) {
    Memory me = (Memory) local;
    if (me.dead) {
      return List.of();
    }
    boolean broken = me.link == Link.BROKEN || me.restarts < state.restarts();
    List<Step> steps = new ArrayList<>();
    if (me.op < ops.size() && ops.get(me.op) instanceof Op.Open open) {
      openSteps(state, me, open, steps);
    } else if (!broken && me.link == Link.UP && me.op < ops.size()) {
      commitSteps(me, (Op.Commit) ops.get(me.op), steps);
    }
    if (broken && !me.holds.isEmpty()) {
      steps.add(
          Step.mysqlRead(
              name + " reads its sessions in MySQL", world -> readSessions(world, me, state)));
    } else if (me.link == Link.HEALING) {
      steps.add(healStep(me));
    }
    return steps;
  }

  // --- open

  private List<Stage> order() {
    if (plant.has(Switch.MYSQL_READ_FIRST)) {
      return List.of(Stage.RAISE, Stage.READ, Stage.TAKE, Stage.MARK);
    }
    return plant.has(Switch.EPOCH_AFTER_REDIS)
        ? List.of(Stage.TAKE, Stage.READ, Stage.RAISE, Stage.MARK)
        : List.of(Stage.RAISE, Stage.TAKE, Stage.READ, Stage.MARK);
  }

  private void openSteps(State state, Memory me, Op.Open open, List<Step> steps) {
    OwnerId owner = World.owner(open.player());
    Attempt attempt = me.attempt;
    Stage stage = order().get(attempt == null ? 0 : attempt.stage);
    String label = name + " opens " + open.player();
    boolean locked = !plant.has(Switch.OWNERS_NOT_LOCKED) && FlushWorker.isLocked(state, owner);
    switch (stage) {
      case RAISE -> {
        if (!locked) {
          steps.add(
              Step.mysql(label + ": epoch into MySQL", world -> raise(world, state, me, open)));
        }
      }
      case TAKE -> {
        if (attempt != null
            && attempt.isCutOff(state.restarts())
            && !plant.has(Switch.OPEN_OUTLIVES_ITS_CONNECTION)) {
          steps.add(
              Step.redisRead(
                  label + ": its connection is broken", world -> settled(me.op(me.op + 1))));
        } else {
          steps.add(
              Step.redis(label + ": takes over in Redis", world -> take(world, state, me, open)));
        }
      }
      case READ -> steps.add(Step.mysqlRead(label + ": reads MySQL", world -> read(world, me)));
      case MARK -> {
        if (!locked) {
          steps.add(Step.mysql(label + ": marks it open", world -> mark(world, me)));
        }
      }
    }
    if (attempt != null && me.attempts <= reopens) {
      steps.addAll(againSteps(state, me, open));
    }
    if (attempt != null && mayDie) {
      steps.add(Step.mysqlRead(name + " dies in mid-open", world -> me.died()));
    }
  }

  /** Gives the attempt up and begins another: its first step at once. */
  private List<Step> againSteps(State state, Memory me, Op.Open open) {
    OwnerId owner = World.owner(open.player());
    if (plant.has(Switch.SAME_EPOCH)) {
      Attempt same =
          new Attempt(
              open.player(),
              1,
              Objects.requireNonNull(me.attempt).session,
              List.of(),
              null,
              state.restarts());
      return List.of(
          Step.redis(
              name + " opens again with the same epoch",
              world -> take(world, state, me.attempt(same, me.attempts + 1), open)));
    }
    if (order().get(0) != Stage.RAISE || FlushWorker.isLocked(state, owner)) {
      return List.of();
    }
    return List.of(
        Step.mysql(
            name + " opens again: epoch into MySQL",
            world -> raise(world, state, me.attempt(null, me.attempts), open)));
  }

  private Memory raise(World world, State state, Memory me, Op.Open open) throws Step.Blocked {
    Attempt attempt = me.attempt;
    OwnerId owner = World.owner(open.player());
    String nonce = attempt == null ? nonce(me.attempts) : attempt.session.nonce();
    SessionId session;
    try {
      session =
          world.sessions.raise(owner, nonce, name, attempt == null ? 0 : attempt.session.epoch());
    } catch (io.gameq.MySqlException e) {
      throw new Step.Blocked();
    }
    world.age(owner);
    Attempt raised =
        attempt == null
            ? new Attempt(open.player(), 1, session, List.of(), null, state.restarts())
            : new Attempt(
                attempt.player,
                attempt.stage + 1,
                session,
                attempt.unflushed,
                attempt.snapshot,
                attempt.restartsAtTake);
    return me.attempt(raised, attempt == null ? me.attempts + 1 : me.attempts);
  }

  private String nonce(int attempt) {
    return name.toLowerCase(java.util.Locale.ROOT).repeat(8) + "%08x".formatted(attempt);
  }

  private Memory take(World world, State state, Memory me, Op.Open open) {
    OwnerId owner = World.owner(open.player());
    Attempt attempt = me.attempt;
    if (attempt == null) { // planted: the epoch is not in MySQL yet
      TableImage.DurableSession now = state.tables().sessions().get(owner.encoded());
      attempt =
          new Attempt(
              open.player(),
              0,
              new SessionId(now == null ? 1 : now.epoch() + 1, nonce(me.attempts)),
              List.of(),
              null,
              0);
    }
    OpenScript.Outcome outcome =
        OpenScript.call(world.redis, world.slot, owner, attempt.session, 0);
    if (!(outcome instanceof OpenScript.Opened opened)) {
      return settled(me.op(me.op + 1));
    }
    List<UnflushedRow> unflushed = new ArrayList<>(opened.dirty());
    unflushed.addAll(opened.claimed());
    return me.attempt(
        attempt.then(List.copyOf(unflushed), attempt.snapshot, state.restarts()), me.attempts);
  }

  private Memory read(World world, Memory me) {
    Attempt attempt = Objects.requireNonNull(me.attempt);
    ViewInSteps.Snapshot snapshot =
        ViewInSteps.snapshot(
            world.reader, world.catalog, World.owner(attempt.player), attempt.unflushed);
    return me.attempt(
        attempt.then(attempt.unflushed, snapshot, attempt.restartsAtTake), me.attempts);
  }

  private Memory mark(World world, Memory me) throws Step.Blocked {
    Attempt attempt = Objects.requireNonNull(me.attempt);
    OwnerId owner = World.owner(attempt.player);
    try {
      if (!OpenMark.set(world.jdbi, owner, attempt.session)) {
        return settled(me.op(me.op + 1));
      }
    } catch (io.gameq.MySqlException e) {
      throw new Step.Blocked();
    }
    ViewInSteps view =
        ViewInSteps.of(
            owner,
            world.catalog,
            world.codec,
            attempt.unflushed,
            Objects.requireNonNull(attempt.snapshot));
    long seen = plant.has(Switch.CLOCK_NOT_MOVED_ON) ? 0 : view.highestVersion();
    TreeMap<Integer, Integer> loaded = rows(world, view);
    return settled(
        me.hold(attempt.player, new Hold(attempt.session, false, loaded, attempt.restartsAtTake))
            .changes(me.changes, Math.max(me.lastVersion, seen))
            .op(me.op + 1));
  }

  /** Item ids and counts. */
  static TreeMap<Integer, Integer> rows(World world, ViewInSteps view) {
    TreeMap<Integer, Integer> rows = new TreeMap<>();
    for (Row row : view.rows(world.item)) {
      rows.put(
          Objects.requireNonNull(row.getLong("id")).intValue(),
          Objects.requireNonNull(row.getLong("count")).intValue());
    }
    return rows;
  }

  private VersionClock clock(Memory me) {
    VersionClock clock = new VersionClock(() -> clockMillis);
    clock.observe(me.lastVersion);
    return clock;
  }

  // --- commit

  private void commitSteps(Memory me, Op.Commit op, List<Step> steps) {
    String label = name + " commits " + (me.op + 1);
    steps.add(Step.redis(label, world -> commit(world, me, op)));
    if (op.mayBeLost()) {
      steps.add(Step.mysqlRead(label + ", request lost", world -> broken(world, me, op, false)));
      steps.add(Step.redis(label + ", reply lost", world -> broken(world, me, op, true)));
    }
  }

  private Outgoing outgoing(World world, Memory me, Op.Commit op, int at) {
    return Outgoing.of(world, me, op, plant.has(Switch.MOVE_AS_DELETE_AND_INSERT), at);
  }

  private Memory commit(World world, Memory me, Op.Commit op) {
    Outgoing out = outgoing(world, me, op, me.op);
    long version = clock(me).next(out.versions());
    List<Change> changes = out.versioned(version);
    List<Change> all = new ArrayList<>(me.changes);
    all.addAll(changes);
    Answer answer = Answer.APPLIED;
    for (Commit commit : out.commits(plant.has(Switch.SPANNING_AS_MULTIS))) {
      Answer one = CommitWire.first(world.redis, world.slot, name, commit);
      answer = one == Answer.APPLIED || plant.has(Switch.OWN_NOT_CHECKED) ? answer : one;
    }
    Memory now = me.changes(all, version);
    return switch (answer) {
      case APPLIED ->
          settled(now.changes(told(all, me.op, Status.ACKNOWLEDGED), version).op(me.op + 1));
      case NEWER_SESSION ->
          settled(
              loseRefused(world, now.changes(told(all, me.op, Status.REFUSED), version), op)
                  .op(me.op + 1));
      case FORGOTTEN, FORGOTTEN_WRITTEN ->
          settled(now.op(me.op + 1)).link(Link.BROKEN, 0, me.restarts);
    };
  }

  /** Marks the sessions lost that Redis names a newer one for. */
  private static Memory loseRefused(World world, Memory me, Op.Commit op) {
    Memory now = me;
    for (Op.Part part : op.parts()) {
      Hold hold = now.holds.get(part.player());
      String own =
          RedisImage.take(world.redis, world.namespace)
              .items("}:own:" + World.owner(part.player()).encoded())
              .stream()
              .findFirst()
              .orElse("");
      if (hold != null && own.compareTo(hold.session.text()) > 0) {
        now = now.lose(part.player());
      }
    }
    return now;
  }

  private Memory broken(World world, Memory me, Op.Commit op, boolean arrives) {
    Outgoing out = outgoing(world, me, op, me.op);
    long version = clock(me).next(out.versions());
    List<Change> all = new ArrayList<>(me.changes);
    all.addAll(out.versioned(version));
    if (arrives) {
      out.commits(plant.has(Switch.SPANNING_AS_MULTIS))
          .forEach(commit -> CommitWire.first(world.redis, world.slot, name, commit));
    }
    return settled(me.changes(all, version).op(me.op + 1)).link(Link.BROKEN, 0, me.restarts);
  }

  private static List<Change> told(List<Change> changes, int commit, Status status) {
    return changes.stream()
        .map(change -> change.commit() == commit ? change.with(status) : change)
        .toList();
  }

  // --- heal

  private Memory readSessions(World world, Memory me, State state) {
    List<OwnerId> held =
        me.holds.entrySet().stream()
            .filter(e -> !e.getValue().lost)
            .map(e -> World.owner(e.getKey()))
            .toList();
    Map<OwnerId, SessionId> durable = world.sessions.current(held);
    Memory now = me;
    for (Map.Entry<Integer, Hold> e : me.holds.entrySet()) {
      if (!e.getValue().session.equals(durable.get(World.owner(e.getKey())))
          && !plant.has(Switch.HEALS_WITHOUT_MYSQL)) {
        now = now.lose(e.getKey());
      }
    }
    return settled(now.link(Link.HEALING, 0, state.restarts()));
  }

  private Step healStep(Memory me) {
    List<Integer> players = List.copyOf(me.holds.keySet());
    if (me.reasserted < players.size()) {
      int player = players.get(me.reasserted);
      return Step.redis(name + " re-asserts " + player, world -> reassert(world, me, player));
    }
    int commit = firstUnanswered(me);
    return Step.redis(
        name + " sends " + (commit + 1) + " again", world -> again(world, me, commit));
  }

  private Memory reassert(World world, Memory me, int player) {
    boolean owns =
        SessionScripts.reassert(
            world.redis,
            world.slot,
            World.owner(player),
            Objects.requireNonNull(me.holds.get(player)).session);
    Memory now = owns ? me : me.lose(player);
    return settled(now.link(Link.HEALING, me.reasserted + 1, me.restarts));
  }

  private Memory again(World world, Memory me, int op) {
    Outgoing out = outgoing(world, me, (Op.Commit) ops.get(op), op);
    long version =
        me.changes.stream()
            .filter(change -> change.commit() == op)
            .mapToLong(Change::version)
            .max()
            .orElseThrow();
    out.versioned(version);
    Answer answer = CommitWire.again(world.redis, world.slot, name, out.commits(false).get(0));
    return answer == Answer.APPLIED
        ? settled(me.changes(told(me.changes, op, Status.ACKNOWLEDGED), me.lastVersion))
        : me.link(Link.BROKEN, 0, me.restarts);
  }

  private static int firstUnanswered(Memory me) {
    return me.changes.stream()
        .filter(change -> change.status() == Status.SENT)
        .mapToInt(Change::commit)
        .min()
        .orElse(-1);
  }

  /** Does what needs no server: skips what a lost session cannot do any more, ends a healing. */
  private Memory settled(Memory memory) {
    Memory me = memory;
    while (me.op < ops.size()
        && ops.get(me.op) instanceof Op.Commit commit
        && !me.holdsAll(commit)) {
      me = me.op(me.op + 1);
    }
    if (me.link != Link.HEALING) {
      return me;
    }
    List<Hold> holds = List.copyOf(me.holds.values());
    while (me.reasserted < holds.size() && holds.get(me.reasserted).lost) {
      me = me.link(Link.HEALING, me.reasserted + 1, me.restarts);
    }
    if (me.reasserted < holds.size()) {
      return me;
    }
    for (int commit = firstUnanswered(me); commit >= 0; commit = firstUnanswered(me)) {
      if (me.holdsAll((Op.Commit) ops.get(commit))) {
        return me;
      }
      me = me.changes(told(me.changes, commit, Status.UNKNOWN), me.lastVersion);
    }
    return me.link(Link.UP, 0, me.restarts);
  }
}

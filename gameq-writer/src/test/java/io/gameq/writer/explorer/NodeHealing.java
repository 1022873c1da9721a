package io.gameq.writer.explorer;

import io.gameq.change.Commit;
import io.gameq.change.Unsettled;
import io.gameq.healing.ReplayWire;
import io.gameq.healing.ReplayWire.Debt;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitWire;
import io.gameq.redis.script.HealedScript;
import io.gameq.redis.script.ReassertScript;
import io.gameq.writer.explorer.MadeChange.Status;
import io.gameq.writer.explorer.NodeMemory.Link.Stage;
import io.gameq.writer.explorer.Plant.Switch;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a node does after its connection broke, in the steps of {@code Healing} and {@code Replay}:
 * reads its sessions in MySQL, re-asserts each, replays each record that Redis lost, says that
 * nothing is missing, sends each unanswered commit again. Whenever the connection breaks once more
 * it begins again.
 *
 * <p>The journal mark is read together with the last re-assert: nobody but the node changes it.
 */
record NodeHealing(GameNodeActor node) {
  /** What a node that is not dead may do to heal; nothing when it is healed. */
  List<Step> steps(State state, NodeMemory me) {
    if (me.isBroken(state)) {
      return state.hasTerms() ? goesOver(state, me) : connects(state, me);
    }
    int asked = me.link().asked();
    return switch (me.link().stage()) {
      case UP, BROKEN -> List.of();
      case CONNECTED -> readsSessions(me, me.link().by());
      case REASSERTS -> {
        int player = List.copyOf(me.holds().keySet()).get(me.link().next());
        yield List.of(
            Step.redis(name() + " re-asserts " + player, world -> reassert(world, me, player)));
      }
      case SENDS -> List.of(sends(me));
      case ASKS ->
          List.of(
              Step.mysqlRead(
                  name() + " was refused, asks for the session of " + asked,
                  world -> asks(world, me, asked)));
      case TELLS ->
          List.of(Step.redis(name() + " re-asserts " + asked, world -> tells(world, me, asked)));
      case SAYS_WHOLE ->
          List.of(
              Step.redis(name() + " says that Redis has all again", world -> saysWhole(world, me)));
    };
  }

  private String name() {
    return node.name();
  }

  private Plant plant() {
    return node.plant();
  }

  private List<Step> connects(State state, NodeMemory me) {
    if (me.holds().isEmpty()) { // a session that is being opened is not registered yet
      return me.attempt() == null
          ? List.of()
          : List.of(
              Step.redisRead(
                  name() + " connects again, holding nothing",
                  world -> me.link(me.link().connected(Stage.UP, now(state)))));
    }
    return readsSessions(me, now(state));
  }

  private static Reached now(State state) {
    return Reached.newest(state.outages());
  }

  /** Connects to the primary that counts, where another one may have to be left for it. */
  private List<Step> goesOver(State state, NodeMemory me) {
    if (me.holds().isEmpty() && node.isDone(me)) {
      return List.of();
    }
    Stage next = me.holds().isEmpty() ? Stage.UP : Stage.CONNECTED;
    return List.of(
        Step.mysql(
            name() + " goes over to the newest primary",
            world -> me.link(me.link().connected(next, world.reach(state)))));
  }

  private List<Step> readsSessions(NodeMemory me, Reached over) {
    return List.of(
        Step.mysqlRead(
            name() + " reads its sessions in MySQL", world -> readSessions(world, me, over)));
  }

  private NodeMemory readSessions(Servers world, NodeMemory me, Reached over) {
    Map<OwnerId, CountingSessions> durable =
        world.sessions.current(me.owning().values().stream().map(SessionRef::owner).toList());
    NodeMemory now = me;
    for (Map.Entry<Integer, SessionRef> held : me.owning().entrySet()) {
      SessionRef ref = held.getValue();
      if (!counts(durable, ref) && !plant().has(Switch.HEALS_WITHOUT_MYSQL)) {
        now = now.lose(held.getKey());
      }
    }
    if (plant().has(Switch.MARKS_TRUSTED_ALWAYS)) {
      now = now.wal(now.wal().owing(Debt.NONE));
    }
    return reasserted(world, now.link(me.link().connected(Stage.REASSERTS, over)));
  }

  private boolean counts(Map<OwnerId, CountingSessions> durable, SessionRef ref) {
    CountingSessions sessions = durable.get(ref.owner());
    return plant().has(Switch.ONLY_THE_NEWEST_HEALS)
        ? sessions != null && sessions.newest().equals(ref.id())
        : CountingSessions.counts(sessions, ref.id());
  }

  private NodeMemory reassert(Servers world, NodeMemory me, int player) {
    boolean owns = owns(world, me, player);
    NodeMemory now = owns ? me : me.lose(player);
    return reasserted(world, now.link(me.link().at(Stage.REASSERTS, me.link().next() + 1)));
  }

  private static boolean owns(Servers world, NodeMemory me, int player) {
    SessionRef ref = Objects.requireNonNull(me.holds().get(player)).ref();
    return ReassertScript.call(world.redis, world.slot, ref.owner(), ref.id());
  }

  /** After the last one: what has Redis lost? */
  private NodeMemory reasserted(Servers world, NodeMemory memory) {
    NodeMemory me = node.settled(memory);
    List<NodeMemory.Hold> holds = List.copyOf(me.holds().values());
    int next = me.link().next();
    while (next < holds.size() && holds.get(next).lost()) {
      next++;
    }
    if (next < holds.size()) {
      return me.link(me.link().at(Stage.REASSERTS, next));
    }
    Map<SessionRef, Unsettled> sessions = new HashMap<>();
    me.owning()
        .forEach(
            (player, ref) ->
                sessions.put(
                    ref, Objects.requireNonNull(me.wal().trackers().get(player)).unsettled()));
    Debt debt = me.wal().debt().plusLost(world.redis, world.slot, name(), sessions);
    return settled(me.wal(me.wal().owing(debt)).link(me.link().at(Stage.SENDS, 0)));
  }

  // --- send

  private Step sends(NodeMemory me) {
    List<Long> owed = owed(me);
    if (me.link().next() < owed.size()) {
      long sequence = owed.get(me.link().next());
      return Step.redis(
          name() + " replays record " + sequence, world -> replay(world, me, sequence));
    }
    int op = me.firstUnanswered();
    return Step.redis(name() + " sends " + (op + 1) + " again", world -> again(world, me, op));
  }

  /** In the order in which they are sent. */
  private List<Long> owed(NodeMemory me) {
    List<Long> owed = new ArrayList<>(me.wal().debt().sequences());
    if (plant().has(Switch.ADOPTED_NOT_PUT_BACK)) {
      owed.removeIf(sequence -> me.wal().record(sequence).op() == NodeWal.ADOPTED);
    }
    if (plant().has(Switch.REPLAY_NEWEST_FIRST)) {
      Collections.reverse(owed);
    }
    return owed;
  }

  private NodeMemory replay(Servers world, NodeMemory me, long sequence) {
    SessionRef refused =
        ReplayWire.send(
            world.redis,
            world.slot,
            name(),
            sequence,
            replaying(me),
            me.wal().record(sequence).parts());
    return sent(me, me.link().next() + 1, refused);
  }

  private NodeMemory again(Servers world, NodeMemory me, int op) {
    NodeMemory answered = me.told(op, Status.ACKNOWLEDGED);
    if (plant().has(Switch.UNANSWERED_COUNT_AS_DONE)) {
      return settled(answered);
    }
    Op.Commit commit = (Op.Commit) node.ops().get(op);
    Commit out = node.sentBefore(world, me, op);
    SessionRef refused = CommitWire.again(world.redis, world.slot, name(), out);
    return refused == null
        ? settled(answered.wal(me.wal().queued(commit, out)))
        : sent(me, 0, refused);
  }

  private NodeMemory sent(NodeMemory me, int next, @Nullable SessionRef refused) {
    if (refused == null) {
      return settled(me.link(me.link().at(Stage.SENDS, next)));
    }
    int player =
        me.holds().entrySet().stream()
            .filter(held -> held.getValue().ref().owner().equals(refused.owner()))
            .mapToInt(Map.Entry::getKey)
            .findFirst()
            .orElseThrow();
    return me.link(me.link().asking(player));
  }

  private NodeMemory asks(Servers world, NodeMemory me, int player) {
    SessionRef ref = Objects.requireNonNull(me.holds().get(player)).ref();
    if (counts(world.sessions.current(List.of(ref.owner())), ref)) {
      return me.link(me.link().telling());
    }
    NodeMemory lost = me.lose(player);
    return plant().has(Switch.LOST_SESSIONS_REPLAY) // else it is refused for ever
        ? settled(lost.link(me.link().at(Stage.SENDS, me.link().next() + 1)))
        : sendsOn(lost);
  }

  private NodeMemory tells(Servers world, NodeMemory me, int player) {
    return sendsOn(owns(world, me, player) ? me : me.lose(player));
  }

  private NodeMemory sendsOn(NodeMemory me) {
    return settled(me.link(me.link().at(Stage.SENDS, me.link().next())));
  }

  private NodeMemory saysWhole(Servers world, NodeMemory me) {
    HealedScript.call(world.redis, new SlotKeys[] {world.slot}, List.copyOf(me.owning().values()));
    return sendsOn(me);
  }

  private List<SessionRef> replaying(NodeMemory me) {
    return plant().has(Switch.LOST_SESSIONS_REPLAY)
        ? me.holds().values().stream().map(NodeMemory.Hold::ref).toList()
        : List.copyOf(me.owning().values());
  }

  /** Does what needs no server: leaves out what lost sessions cannot send; ends the healing. */
  private NodeMemory settled(NodeMemory memory) {
    NodeMemory me = node.settled(memory);
    List<Long> owed = owed(me);
    int next = me.link().next();
    while (next < owed.size()
        && !ReplayWire.concerns(replaying(me), me.wal().record(owed.get(next)).parts())) {
      next++;
    }
    if (next < owed.size()) {
      return me.link(me.link().at(Stage.SENDS, next));
    }
    me = me.wal(me.wal().owing(Debt.NONE)).link(me.link().at(Stage.SENDS, 0));
    if (!me.link().saidWhole()) {
      return me.link(me.link().sayingWhole());
    }
    for (int op = me.firstUnanswered(); op >= 0; op = me.firstUnanswered()) {
      if (me.holdsAll((Op.Commit) node.ops().get(op))) {
        return me;
      }
      me = me.told(op, Status.UNKNOWN);
    }
    return me.link(me.link().at(Stage.UP, 0));
  }
}

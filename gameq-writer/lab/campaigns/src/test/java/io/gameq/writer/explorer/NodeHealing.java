package io.gameq.writer.explorer;

import io.gameq.GameQueueException;
import io.gameq.healing.HealingStep;
import io.gameq.writer.explorer.NodeMemory.Link.Stage;
import io.gameq.writer.explorer.Plant.Switch;
import java.util.List;

/**
 * What a node does after its connection broke: takes the {@linkplain HealingStep steps} that a
 * sender takes, each for one session, record or commit at a time. Whenever the connection breaks
 * once more it begins again.
 */
record NodeHealing(GameNodeActor node) {
  /** What a node that is not dead may do to heal; nothing when it is healed. */
  List<Step> steps(State state, NodeMemory me) {
    if (me.isBroken(state)) {
      return state.hasTerms() ? goesOver(state, me) : connects(state, me);
    }
    return me.link().stage() == Stage.HEALS ? List.of(step(me)) : List.of();
  }

  private String name() {
    return node.name();
  }

  private List<Step> connects(State state, NodeMemory me) {
    Reached now = Reached.newest(state.outages());
    if (!me.holds().isEmpty()) {
      return List.of(step(me.link(me.link().connected(now).healing(new HealingStep.NoteLost()))));
    }
    return me.attempt() == null // a session that is being opened is not registered yet
        ? List.of()
        : List.of(
            Step.redisRead(
                name() + " connects again, holding nothing",
                world -> me.link(me.link().connected(now))));
  }

  /** Connects to the primary that counts, where another one may have to be left for it. */
  private List<Step> goesOver(State state, NodeMemory me) {
    if (me.holds().isEmpty() && node.isDone(me)) {
      return List.of();
    }
    return List.of(
        Step.mysql(
            name() + " goes over to the newest primary",
            world -> {
              NodeMemory.Link over = me.link().connected(world.reach(state));
              return me.link(
                  me.holds().isEmpty() ? over : over.healing(new HealingStep.NoteLost()));
            }));
  }

  private Step step(NodeMemory me) {
    HealingStep step = me.link().step();
    if (step instanceof HealingStep.NoteLost) {
      return Step.redisRead(
          name() + " connected again, reads its journal marks", world -> take(world, me));
    }
    if (step instanceof HealingStep.ReadSessions) {
      return Step.mysqlRead(name() + " reads its sessions in MySQL", world -> take(world, me));
    }
    if (step instanceof HealingStep.AskOwner) {
      return Step.mysqlRead(
          name() + " was refused, reads the session in MySQL", world -> take(world, me));
    }
    if (step instanceof HealingStep.Decide) {
      throw new IllegalStateException("no trade is left undecided here");
    }
    return Step.redis(name() + " heals: " + step, world -> take(world, me));
  }

  private NodeMemory take(Servers world, NodeMemory me) {
    HealingStep step = me.link().step();
    NodeHealingPorts ports = new NodeHealingPorts(world, node, me);
    HealingStep next;
    try {
      next = step.next(ports);
    } catch (GameQueueException e) {
      if (step instanceof HealingStep.TellOwner
          || step instanceof HealingStep.SendAgain) { // all begins anew
        return node.settled(me.link(me.link().broken()));
      }
      throw e;
    }
    NodeMemory now = ports.memory();
    return node.settled(now.link(now.link().healing(refusedOnce(next))));
  }

  /** A record of a lost session is refused for ever, where a plant has it replayed. */
  private HealingStep refusedOnce(HealingStep next) {
    return node.plant().has(Switch.LOST_SESSIONS_REPLAY)
            && next instanceof HealingStep.AskOwner ask
            && ask.after() instanceof HealingStep.Replay refused
        ? new HealingStep.AskOwner(
            ask.session(), new HealingStep.Replay(refused.from() + 1, refused.passed()), true)
        : next;
  }
}

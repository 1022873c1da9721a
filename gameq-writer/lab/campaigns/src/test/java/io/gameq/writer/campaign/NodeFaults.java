package io.gameq.writer.campaign;

import io.gameq.servers.Trap;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Game nodes that die or stall. Stateless. */
final class NodeFaults {
  private NodeFaults() {}

  static List<Fault> all() {
    return List.of(
        new Fault("node kill -9 before the WAL", 2, NodeFaults::beforeWal),
        new Fault("node kill -9 after the WAL, before EXEC", 2, NodeFaults::beforeExec),
        new Fault("node kill -9 after EXEC, before its reply", 2, NodeFaults::afterExec),
        new Fault("node kill -9 in a trade, before the reply", 2, NodeFaults::inATrade),
        new Fault("node kill -9 in an open, before Redis has it", 2, NodeFaults::inAnOpen),
        new Fault("opens of a node that Redis does not hear of for 7 s", 1, NodeFaults::unheard),
        new Fault("node SIGSTOP 8 s while its owners are taken over", 1, NodeFaults::stalled));
  }

  private static void beforeWal(World world, Random random) throws InterruptedException {
    NodeProcess node = world.node(random);
    node.process().tell("halt");
    if (!node.process().awaitEnd(Trap.LIMIT_SECONDS)) {
      throw new IllegalStateException("the node did not commit");
    }
    node.restart();
  }

  private static void beforeExec(World world, Random random) {
    killAt(world.node(random), node -> Trap.beforeRequest("EXEC\r\n", random.nextInt(40), node));
  }

  private static void afterExec(World world, Random random) {
    killAt(world.node(random), node -> Trap.beforeReply("EXEC\r\n", "*", random.nextInt(40), node));
  }

  private static void inATrade(World world, Random random) {
    killAt(
        world.node(random), node -> Trap.beforeReply(" commit.lua", "*", random.nextInt(4), node));
  }

  private static void inAnOpen(World world, Random random) {
    NodeProcess node = world.node(random);
    Trap trap = node.redis().set(Trap.beforeRequest(ScriptSha.OPEN, random.nextInt(3), node::kill));
    node.process().tell("steal");
    trap.await();
    node.restart();
  }

  /** Their epochs are raised; then they fail, one after the other. */
  private static void unheard(World world, Random random) throws InterruptedException {
    NodeProcess node = world.node(random);
    node.redis().swallow();
    node.process().tell("steal");
    TimeUnit.SECONDS.sleep(7);
    node.redis().heal();
  }

  private interface Killing {
    Trap trap(Runnable kill);
  }

  private static void killAt(NodeProcess node, Killing killing) {
    node.redis().set(killing.trap(node::kill)).await();
    node.restart();
  }

  private static void stalled(World world, Random random) throws InterruptedException {
    stall(world, random, 8);
    TimeUnit.SECONDS.sleep(1);
  }

  /** Stops a node for so long, while the other takes all of its owners over. */
  static void stall(World world, Random random, int seconds) throws InterruptedException {
    int index = random.nextInt(2);
    NodeProcess stalled = world.nodes.get(index);
    Signals.stop(stalled.process().pid());
    world.nodes.get(1 - index).process().tell("steal");
    TimeUnit.SECONDS.sleep(seconds);
    Signals.resume(stalled.process().pid());
  }
}

package io.gameq.recovery.failover;

import io.gameq.servers.Trap;
import io.gameq.writer.campaign.NodeJvm;
import io.gameq.writer.campaign.Signals;
import java.util.List;
import java.util.Random;

/** A failover, and a node that is gone: only its WAL has what it had acknowledged. Stateless. */
final class NodeGoneFaults {
  /** A node asks so much before it replays: what server that is, and for its marks. */
  private static final int MARKS_FIRST = 4;

  private NodeGoneFaults() {}

  static List<Failover> all() {
    return List.of(
        Failover.of("a node is killed in its replay, tool", NodeGoneFaults::killedInReplay),
        Failover.of("a node is killed with the primary, tool", NodeGoneFaults::killedWithPrimary),
        Failover.of("tool killed in the middle, then twice at once", NodeGoneFaults::toolKilled),
        Failover.of("a node comes back before the tool", NodeGoneFaults::backBeforeTool),
        Failover.of("a node is killed with the primary and comes back", NodeGoneFaults::comesBack));
  }

  private static void killedInReplay(FailoverWorld world, Random random) throws Exception {
    world.nodeIsGone();
    NodeJvm victim = world.node(random);
    int skip = MARKS_FIRST + random.nextInt(4);
    Member old = world.topology.primary();
    List<Trap> traps =
        world.topology.othersThan(old).stream()
            .map(
                member ->
                    member
                        .door()
                        .clients()
                        .set(Trap.beforeRequest(victim.name() + "-", skip, victim::kill)))
            .toList();
    PrimaryFaults.kill(world, random);
    Trap.awaitAny(traps);
    RedisTopology.await("one primary", world.topology::hasOnePrimary);
    RecoveryTool tool = new RecoveryTool(world, victim);
    tool.replay();
    tool.reportConflicts();
  }

  /** One that is killed while replicas are behind. */
  private static NodeJvm killNodeAndPrimary(FailoverWorld world, Random random) throws Exception {
    world.nodeIsGone();
    NodeJvm victim = world.node(random);
    PrimaryFaults.killDuring(world, random, victim::kill);
    RedisTopology.await("one primary", world.topology::hasOnePrimary);
    return victim;
  }

  /**
   * While something is done for a node that was killed with the primary, the others stand still.
   */
  private interface Meanwhile {
    void run(NodeJvm victim, RecoveryTool tool) throws Exception;
  }

  /** The same, and nobody takes its players over before something is done for it. */
  private static RecoveryTool killNodeAndPrimary(
      FailoverWorld world, Random random, Meanwhile meanwhile) throws Exception {
    world.nodeIsGone();
    NodeJvm victim = world.node(random);
    List<NodeJvm> others = world.nodes.stream().filter(node -> node != victim).toList();
    PrimaryFaults.killDuring(
        world,
        random,
        () -> {
          others.forEach(node -> Signals.stop(node.process().pid()));
          victim.kill();
        });
    RedisTopology.await("one primary", world.topology::hasOnePrimary);
    RecoveryTool tool = new RecoveryTool(world, victim);
    meanwhile.run(victim, tool);
    others.forEach(node -> Signals.resume(node.process().pid()));
    return tool;
  }

  private static void killedWithPrimary(FailoverWorld world, Random random) throws Exception {
    RecoveryTool tool =
        killNodeAndPrimary(
            world,
            random,
            (victim, its) -> {
              its.replay();
              its.requireWritten();
            });
    tool.reportConflicts();
  }

  private static void toolKilled(FailoverWorld world, Random random) throws Exception {
    RecoveryTool tool =
        killNodeAndPrimary(
            world,
            random,
            (victim, its) -> {
              its.replayAndBeKilled(random);
              its.replayTwiceAtOnce();
            });
    tool.reportConflicts();
  }

  /** Started anew it replays what it left, beside the tool and what the other node took over. */
  private static void backBeforeTool(FailoverWorld world, Random random) throws Exception {
    NodeJvm victim = killNodeAndPrimary(world, random);
    RecoveryTool tool = new RecoveryTool(world, victim);
    victim.restart();
    FailoverWorld.pause(500 + random.nextInt(1_500));
    tool.replay();
    tool.reportConflicts();
  }

  /**
   * Its players log in the moment it is back, and nobody took them over meanwhile: what its earlier
   * WAL holds must all be there, without the tool.
   */
  private static void comesBack(FailoverWorld world, Random random) throws Exception {
    RecoveryTool tool = killNodeAndPrimary(world, random, (victim, its) -> victim.restart());
    world.awaitHealed();
    int conflicts = tool.reportConflicts();
    if (conflicts > 0) {
      throw new IllegalStateException(
          "a node that came back beside its WAL left %d conflicts: %s"
              .formatted(conflicts, world.reportedByTool));
    }
  }
}

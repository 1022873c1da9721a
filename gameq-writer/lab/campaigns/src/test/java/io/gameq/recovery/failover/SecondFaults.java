package io.gameq.recovery.failover;

import io.gameq.servers.Trap;
import io.gameq.writer.campaign.NodeJvm;
import io.gameq.writer.campaign.ScriptSha;
import io.gameq.writer.campaign.Signals;
import io.gameq.writer.campaign.WriterJvm;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** A failover, and something else that goes wrong around it. Stateless. */
final class SecondFaults {
  private SecondFaults() {}

  static List<Failover> all() {
    return List.of(
        Failover.of("two in a row", SecondFaults::twoInARow),
        new Failover("a second one during the replay", 2, 3, true, SecondFaults::duringReplay),
        Failover.of("a writer is killed with the primary", SecondFaults::writerKilled),
        Failover.of("owners handed over just before", SecondFaults::handedOverBefore),
        Failover.of("owners taken over while a node stalls", SecondFaults::takenOverFromStalled),
        Failover.of("owners taken over by a node that heals late", SecondFaults::takenOverAndLate),
        Failover.of("owners taken over across a partition", SecondFaults::takenOverAcross));
  }

  private static void twoInARow(FailoverWorld world, Random random) throws Exception {
    PrimaryFaults.kill(world, random);
    RedisTopology.await("one primary", world.topology::hasOnePrimary);
    FailoverWorld.pause(random.nextInt(1_000));
    PrimaryFaults.kill(world, random);
  }

  private static void duringReplay(FailoverWorld world, Random random) throws Exception {
    Member first = world.topology.primary();
    Map<Member, Losses.Marks> kept = PrimaryFaults.loseFor(world, first, random);
    int skip = random.nextInt(4); // each has up to 64 records
    List<Trap> traps =
        world.topology.othersThan(first).stream()
            .map(
                member ->
                    member
                        .door()
                        .clients()
                        .set(Trap.beforeRequest(ScriptSha.REPLAY, skip, () -> {})))
            .toList();
    Losses.Held held = world.goes(first, first::kill);
    Member second = world.topology.awaitPromotion(first);
    world.losses.add(held, kept, second);
    Trap.awaitAny(traps);
    Map<Member, Losses.Marks> keptOfReplay = world.marks(world.topology.othersThan(second));
    Losses.Held replayed = world.goes(second, second::kill);
    Member third = world.topology.awaitPromotion(second);
    world.losses.add(replayed, keptOfReplay, third);
    PrimaryFaults.comesBack(first, third, random);
    PrimaryFaults.comesBack(second, third, random);
  }

  private static void writerKilled(FailoverWorld world, Random random) throws Exception {
    WriterJvm writer = world.writers.get(random.nextInt(world.writers.size()));
    PrimaryFaults.killDuring(world, random, writer::kill);
    writer.restart();
  }

  /** Adopted rows are forgotten as well: the node that adopted them puts them back. */
  private static void handedOverBefore(FailoverWorld world, Random random) throws Exception {
    NodeJvm taker = world.node(random);
    PrimaryFaults.killDuring(
        world,
        random,
        () -> {
          taker.process().tell("steal");
          FailoverWorld.pause(random.nextInt(700));
        });
  }

  /** When it goes on, its sessions are lost, and with them what nobody else holds: conflicts. */
  private static void takenOverFromStalled(FailoverWorld world, Random random) throws Exception {
    world.nodeIsGone();
    int index = random.nextInt(2);
    NodeJvm stalled = world.nodes.get(index);
    PrimaryFaults.killDuring(world, random, () -> Signals.stop(stalled.process().pid()));
    RedisTopology.await("one primary", world.topology::hasOnePrimary);
    world.nodes.get(1 - index).process().tell("steal");
    FailoverWorld.pause(1_000 + random.nextInt(2_000));
    Signals.resume(stalled.process().pid());
  }

  /** What it adopted is nowhere until it goes on, and then it is: nobody may call that lost. */
  private static void takenOverAndLate(FailoverWorld world, Random random) throws Exception {
    world.nodeIsGone();
    NodeJvm taker = world.node(random);
    PrimaryFaults.killDuring(
        world,
        random,
        () -> {
          taker.process().tell("steal");
          FailoverWorld.pause(300 + random.nextInt(700));
          Signals.stop(taker.process().pid());
        });
    RedisTopology.await("one primary", world.topology::hasOnePrimary);
    FailoverWorld.pause(12_000);
    Signals.resume(taker.process().pid());
  }

  /**
   * A node that went over opens owners of nodes that did not hear of the new primary yet: they go
   * on committing to the old one until they do.
   */
  private static void takenOverAcross(FailoverWorld world, Random random) throws Exception {
    world.nodeIsGone();
    List<NodeJvm> others = List.copyOf(world.nodes);
    NodeJvm taker = world.addNode();
    taker.awaitReady();
    PrimaryFaults.partitionDuring(
        world,
        random,
        promoted -> {
          others.forEach(node -> Signals.stop(node.process().pid()));
          taker.process().tell("steal");
          RedisTopology.await(
              "commits of " + taker.name() + " to the new primary",
              () -> world.marks(promoted).ofNode(taker.name()));
          FailoverWorld.pause(random.nextInt(1_000));
          others.forEach(node -> Signals.resume(node.process().pid()));
        });
  }
}

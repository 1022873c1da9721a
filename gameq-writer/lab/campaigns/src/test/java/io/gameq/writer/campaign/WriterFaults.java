package io.gameq.writer.campaign;

import io.gameq.servers.Trap;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Writers that die or stall at the worst moments. Stateless. */
final class WriterFaults {
  /** What Connector/J sends when a flush begins, that is after its claim. */
  private static final String BEGIN = "SET autocommit=0";

  /** What ends it: a whole packet, so that nothing that has the word in it is taken for it. */
  static final String COMMIT = "\7\0\0\0\3COMMIT";

  private WriterFaults() {}

  static List<Fault> all() {
    return List.of(
        new Fault("writer kill -9 after its claim", 2, WriterFaults::afterClaim),
        new Fault("writer kill -9 after COMMIT, before its ack", 2, WriterFaults::afterCommit),
        new Fault("writer kill -9 between its ack and the next claim", 2, WriterFaults::afterAck),
        new Fault(
            "writer SIGSTOP past the lease after its claim", 1, WriterFaults::stallsAfterClaim),
        new Fault(
            "writer SIGSTOP past the lease before its ack", 1, WriterFaults::stallsAfterCommit),
        new Fault("writer kill -9 in mid-bisect", 2, WriterFaults::midBisect),
        new Fault("writer's host vanishes in mid-flush", 1, WriterFaults::hostVanishes),
        new Fault(
            "writers killed while unique values are exchanged and bags come and go",
            1,
            WriterFaults::whileGearChanges));
  }

  /** A row that MySQL refuses is searched for with smaller and smaller statements. */
  private static void midBisect(World world, Random random) {
    List<Trap> traps =
        world.writers.stream()
            .map(
                writer ->
                    writer
                        .mysql()
                        .set(
                            Trap.beforeReply(
                                CampaignTables.POISON,
                                CampaignTables.CHECK,
                                random.nextInt(3),
                                writer::kill)))
            .toList();
    world.nodes.forEach(node -> node.process().tell("poison"));
    Trap.awaitAny(traps);
    world.heal();
  }

  private static void afterClaim(World world, Random random) {
    WriterProcess writer = world.writer(random);
    writer.mysql().set(Trap.beforeRequest(BEGIN, random.nextInt(10), writer::kill)).await();
    writer.restart();
  }

  private static void afterCommit(World world, Random random) {
    WriterProcess writer = world.writer(random);
    writer.mysql().set(Trap.beforeReply(COMMIT, "", random.nextInt(5), writer::kill)).await();
    writer.restart();
  }

  /** MySQL learns nothing of it: the flush keeps its locks until MySQL ends it. */
  private static void hostVanishes(World world, Random random) {
    WriterProcess writer = world.writer(random);
    writer
        .mysql()
        .set(
            Trap.beforeRequest(
                COMMIT,
                random.nextInt(5),
                () -> {
                  writer.mysql().vanish();
                  writer.redis().vanish();
                  writer.kill();
                }))
        .await();
    writer.restart();
  }

  private static void whileGearChanges(World world, Random random) throws InterruptedException {
    world.nodes.forEach(node -> node.process().tell("gear"));
    for (int i = 0; i < 6; i++) {
      TimeUnit.SECONDS.sleep(1);
      afterClaim(world, random);
    }
  }

  private static void afterAck(World world, Random random) {
    WriterProcess writer = world.writer(random);
    writer
        .redis()
        .set(Trap.beforeReply(ScriptSha.ACK, "", random.nextInt(10), writer::kill))
        .await();
    writer.restart();
  }

  private static void stallsAfterClaim(World world, Random random) throws InterruptedException {
    WriterProcess writer = world.writer(random);
    stall(writer, Trap.beforeRequest(BEGIN, random.nextInt(10), stop(writer)));
  }

  private static void stallsAfterCommit(World world, Random random) throws InterruptedException {
    WriterProcess writer = world.writer(random);
    stall(writer, Trap.beforeReply(COMMIT, "", random.nextInt(5), stop(writer)));
  }

  private static Runnable stop(WriterProcess writer) {
    return () -> Signals.stop(writer.process().pid());
  }

  private static void stall(WriterProcess writer, Trap trap) throws InterruptedException {
    writer.mysql().set(trap.thenDeliver()).await();
    TimeUnit.SECONDS.sleep(WriterProcess.LEASE_SECONDS + 2);
    Signals.resume(writer.process().pid());
    TimeUnit.SECONDS.sleep(1);
  }
}

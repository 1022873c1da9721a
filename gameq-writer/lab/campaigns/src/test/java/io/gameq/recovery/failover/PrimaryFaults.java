package io.gameq.recovery.failover;

import io.lettuce.core.api.sync.RedisServerCommands;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** One primary goes, in every way. Stateless. */
final class PrimaryFaults {
  private PrimaryFaults() {}

  static List<Failover> all() {
    return List.of(
        new Failover("planned, replication healthy", 1, 3, false, PrimaryFaults::planned),
        Failovers.QUICK,
        Failover.of("kill -9 of the primary", PrimaryFaults::kill),
        Failover.of("SIGSTOP of the primary, SIGCONT later", PrimaryFaults::stop),
        Failover.of("partition", PrimaryFaults::partition),
        new Failover("restart without data, no Sentinel", 0, 0, true, PrimaryFaults::restartAlone),
        new Failover("FLUSHALL under load, no Sentinel", 0, 0, true, PrimaryFaults::emptied),
        new Failover(
            "restart without data before Sentinel notices",
            1,
            3,
            true,
            PrimaryFaults::restartQuickly));
  }

  /** The old primary takes commits until Sentinel demotes it, seconds later. */
  private static void planned(FailoverWorld world, Random random) throws Exception {
    Member old = world.topology.primary();
    world.lossBeginsNow();
    world.topology.orderFailover();
    Member promoted = world.topology.awaitPromotion(old);
    Losses.Marks kept = world.marks(promoted);
    world.losses.add(world.heldUntilDemoted(old), kept);
  }

  /** Kills it while its replicas are behind. */
  static void killForGood(FailoverWorld world, Random random) throws Exception {
    Member old = world.topology.primary();
    Map<Member, Losses.Marks> kept = loseFor(world, old, random);
    Losses.Held held = world.goes(old, old::kill);
    world.losses.add(held, kept, world.topology.awaitPromotion(old));
  }

  /** Kills it while its replicas are behind; another is primary, and the dead one comes back. */
  static void kill(FailoverWorld world, Random random) throws Exception {
    killDuring(world, random, () -> {});
  }

  /** The same with something that happens while replicas are behind. */
  static void killDuring(FailoverWorld world, Random random, Runnable meanwhile) throws Exception {
    Member old = world.topology.primary();
    Map<Member, Losses.Marks> kept = loseFor(world, old, random);
    meanwhile.run();
    Losses.Held held = world.goes(old, old::kill);
    Member promoted = world.topology.awaitPromotion(old);
    world.losses.add(held, kept, promoted);
    comesBack(old, promoted, random);
  }

  /** Without data: as a replica, or as the primary that its configuration says it is. */
  static void comesBack(Member old, Member promoted, Random random) {
    FailoverWorld.pause(random.nextInt(1_500));
    old.door().heal();
    old.start(random.nextBoolean() ? promoted : null);
  }

  /** Cuts replication for a while; what each replica has, and all that it will get. */
  static Map<Member, Losses.Marks> loseFor(FailoverWorld world, Member primary, Random random) {
    world.topology.replica();
    world.lossBeginsNow();
    primary.door().cutServers(random.nextBoolean());
    Map<Member, Losses.Marks> kept = world.marks(world.topology.othersThan(primary));
    FailoverWorld.pause(500 + random.nextInt(2_000));
    return kept;
  }

  private static void stop(FailoverWorld world, Random random) throws Exception {
    Member old = world.topology.primary();
    Map<Member, Losses.Marks> kept = loseFor(world, old, random);
    Losses.Held held = world.goes(old, old::stop);
    world.losses.add(held, kept, world.topology.awaitPromotion(old));
    FailoverWorld.pause(random.nextInt(4_000));
    old.door().heal();
    old.resume();
  }

  private static void partition(FailoverWorld world, Random random) throws Exception {
    partitionDuring(world, random, promoted -> {});
  }

  /** Something that happens the moment another primary was promoted. */
  interface Meanwhile {
    void happens(Member promoted) throws Exception;
  }

  /**
   * The old primary lives on and acknowledges its clients, who are the only ones that reach it,
   * until they hear of the other one: that is when what it alone holds is gone.
   */
  static void partitionDuring(FailoverWorld world, Random random, Meanwhile meanwhile)
      throws Exception {
    Member old = world.topology.primary();
    Map<Member, Losses.Marks> kept = loseFor(world, old, random);
    old.door().cutSentinels(random.nextBoolean());
    Member promoted = world.topology.awaitPromotion(old);
    world.losses.add(world.goes(old, () -> {}), kept, promoted);
    meanwhile.happens(promoted);
    FailoverWorld.pause(1_000 + random.nextInt(3_000));
    old.door().heal();
    RedisTopology.await("the old primary demoted", old::isReplica);
  }

  private static void restartAlone(FailoverWorld world, Random random) throws Exception {
    Member redis = world.topology.primary();
    world.losesAllNow();
    world.losses.add(world.goes(redis, redis::kill), Losses.Marks.NONE);
    FailoverWorld.pause(random.nextInt(3_000));
    redis.start(null);
  }

  /** No connection breaks. */
  private static void emptied(FailoverWorld world, Random random) throws Exception {
    Member redis = world.topology.primary();
    world.losesAllNow();
    world.losses.add(
        world.goes(redis, () -> redis.ask(RedisServerCommands::flushall)), Losses.Marks.NONE);
  }

  /** Its replica then copies the emptiness. */
  private static void restartQuickly(FailoverWorld world, Random random) throws Exception {
    Member redis = world.topology.primary();
    world.losesAllNow();
    world.losses.add(world.goes(redis, redis::kill), Losses.Marks.NONE);
    redis.start(null);
  }
}

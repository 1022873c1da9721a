package io.gameq.recovery.failover;

import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;

/** All kinds of failover, and which of them a run makes happen. Stateless. */
final class Failovers {
  /** What a submission must pass. */
  private static final String SHORT = "kill -9 of|partition, heals";

  private Failovers() {}

  static List<Failover> chosen() {
    Pattern pattern =
        Pattern.compile(System.getProperty("gameq.campaign.failovers", isShort() ? SHORT : ""));
    return all().stream().filter(failover -> pattern.matcher(failover.name()).find()).toList();
  }

  static boolean isShort() {
    return "short".equals(System.getProperty("gameq.campaign"));
  }

  private static List<Failover> all() {
    return List.of(
        new Failover("planned, replication healthy", 1, 3, false, Failovers::planned),
        Failover.of("kill -9 of the primary", Failovers::kill),
        Failover.of("SIGSTOP of the primary, SIGCONT later", Failovers::stop),
        Failover.of("partition, heals after seconds", Failovers::partition),
        Failover.of("two in a row", Failovers::twoInARow),
        new Failover("restart without data, no Sentinel", 0, 0, true, Failovers::restartAlone),
        new Failover(
            "restart without data before Sentinel notices", 1, 3, true, Failovers::restartQuickly));
  }

  private static void planned(FailoverWorld world, Random random) {
    Member old = world.topology.primary();
    world.lossBeginsNow();
    world.isolatedNow();
    world.topology.orderFailover();
    world.topology.awaitPromotion(old);
    RedisTopology.await(old + " is a replica", old::isReplica);
  }

  private static void kill(FailoverWorld world, Random random) throws Exception {
    killOnce(world, random);
  }

  /** The dead one comes back: as its operator configured it, or as it was at first. */
  private static void killOnce(FailoverWorld world, Random random) throws Exception {
    Member old = world.topology.primary();
    Losses.Marks kept = loseFor(world, old, random);
    world.goes(old, kept, old::kill);
    Member promoted = world.topology.awaitPromotion(old);
    FailoverWorld.pause(random.nextInt(1_500));
    old.door().heal();
    old.start(random.nextBoolean() ? promoted : null);
  }

  /** Cuts replication for a while; what the replica has. */
  private static Losses.Marks loseFor(FailoverWorld world, Member primary, Random random) {
    Member replica = world.topology.replica();
    world.cutReplication(primary, random);
    return world.marks(replica);
  }

  private static void stop(FailoverWorld world, Random random) throws Exception {
    Member old = world.topology.primary();
    Losses.Marks kept = loseFor(world, old, random);
    world.goes(old, kept, old::stop);
    world.topology.awaitPromotion(old);
    FailoverWorld.pause(random.nextInt(4_000));
    old.door().heal();
    old.resume();
    RedisTopology.await(old + " is a replica", old::isReplica);
  }

  private static void partition(FailoverWorld world, Random random) throws Exception {
    Member old = world.topology.primary();
    Losses.Marks kept = loseFor(world, old, random);
    world.isolatedNow();
    old.door().cutSentinels(random.nextBoolean());
    world.topology.awaitPromotion(old);
    FailoverWorld.pause(1_000 + random.nextInt(4_000));
    world.goes(old, kept, old.door()::heal);
    RedisTopology.await(old + " is a replica", old::isReplica);
  }

  private static void twoInARow(FailoverWorld world, Random random) throws Exception {
    killOnce(world, random);
    RedisTopology.await("one primary", world.topology::hasOnePrimary);
    world.topology.replica();
    FailoverWorld.pause(random.nextInt(1_000));
    killOnce(world, random);
  }

  private static void restartAlone(FailoverWorld world, Random random) throws Exception {
    Member redis = world.topology.members().get(0);
    world.lossBeginsNow();
    world.goes(redis, Losses.Marks.NONE, redis::kill);
    FailoverWorld.pause(random.nextInt(3_000));
    redis.start(null);
  }

  private static void restartQuickly(FailoverWorld world, Random random) throws Exception {
    Member redis = world.topology.primary();
    world.lossBeginsNow();
    world.goes(redis, Losses.Marks.NONE, redis::kill);
    redis.start(null);
  }
}

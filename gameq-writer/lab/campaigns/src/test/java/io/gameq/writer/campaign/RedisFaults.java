package io.gameq.writer.campaign;

import io.lettuce.core.KillArgs;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A Redis that stalls, forgets scripts, is full, or holds what it should not. Stateless. */
final class RedisFaults {
  private RedisFaults() {}

  static List<Fault> all() {
    return List.of(
        new Fault("Redis CLIENT PAUSE 3 s", 1, RedisFaults::paused),
        new Fault("Redis SCRIPT FLUSH", 40, RedisFaults::scriptFlush),
        new Fault("Redis maxmemory reached", 2, RedisFaults::full),
        new Fault("Redis WRONGTYPE planted on a dirty key", 3, RedisFaults::wrongType),
        new Fault("Redis SIGSTOP 3 s", 1, (world, random) -> stopped(world, 3)),
        new Fault(
            "Redis SIGSTOP 7 s, longer than its clients wait",
            1,
            (world, random) -> stopped(world, 7)),
        new Fault("Redis CLIENT KILL of all connections", 6, RedisFaults::killConnections));
  }

  private static void paused(World world, Random random) throws InterruptedException {
    world.servers.redis().clientPause(3_000);
    TimeUnit.SECONDS.sleep(3);
  }

  private static void scriptFlush(World world, Random random) {
    world.servers.redis().scriptFlush();
  }

  private static void full(World world, Random random) throws InterruptedException {
    RedisCommands<String, String> redis = world.servers.redis();
    redis.configSet("maxmemory", "1");
    try {
      TimeUnit.MILLISECONDS.sleep(1_000 + random.nextInt(1_000));
    } finally {
      redis.configSet("maxmemory", "0");
    }
  }

  /** Until it is removed, that owner's commits are refused and nobody else's are. */
  private static void wrongType(World world, Random random) throws InterruptedException {
    RedisCommands<String, String> redis = world.servers.redis();
    String planted = "planted by the campaign";
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (System.nanoTime() < deadline) {
      for (String own : world.keys(":own:")) {
        String dirty = own.replace(":own:", ":dirty:") + ":" + redis.get(own);
        if ("OK".equals(redis.set(dirty, planted, SetArgs.Builder.nx()))) {
          TimeUnit.MILLISECONDS.sleep(1_500);
          if (!planted.equals(redis.get(dirty))) {
            throw new IllegalStateException(dirty + " was moved or changed");
          }
          redis.del(dirty);
          return;
        }
      }
    }
    throw new IllegalStateException("every owner was dirty all the time");
  }

  private static void stopped(World world, int seconds) throws InterruptedException {
    Signals.stop(world.servers.redisPid());
    TimeUnit.SECONDS.sleep(seconds);
    Signals.resume(world.servers.redisPid());
  }

  private static void killConnections(World world, Random random) {
    world.servers.redis().clientKill(KillArgs.Builder.skipme());
  }
}

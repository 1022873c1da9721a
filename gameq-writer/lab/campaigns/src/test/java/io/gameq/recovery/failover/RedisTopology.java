package io.gameq.recovery.failover;

import io.gameq.servers.LeastRedisUsers;
import io.gameq.servers.RedisProcess;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import io.lettuce.core.sentinel.api.sync.RedisSentinelCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A primary, its replicas and Sentinels as real processes on the loopback address. Used by the
 * campaign's thread.
 */
final class RedisTopology implements AutoCloseable {
  private static final String NAME = "primary";
  private static final int QUORUM = 2;

  /** Short, but longer than a busy machine keeps a healthy Redis waiting. */
  private static final int DOWN_AFTER_MILLIS = 1_500;

  private static final int FAILOVER_TIMEOUT_MILLIS = 6_000;

  /** A Sentinel that lost the vote waits for twice the failover timeout. */
  private static final int PATIENCE_SECONDS = 40;

  private final List<Member> members = new ArrayList<>();
  private final List<RedisProcess> sentinels = new ArrayList<>();
  private final List<Integer> sentinelPorts = new ArrayList<>();
  private final RedisClient client = RedisClient.create();

  /**
   * Starts them.
   *
   * @param namespace whose users may log in to each
   */
  RedisTopology(Path directory, Failover failover, String namespace) {
    int replicas = failover.replicas();
    int sentinelCount = failover.sentinels();
    String executable = RedisProcess.executable(create(directory));
    for (int i = 0; i <= replicas; i++) {
      Member member =
          new Member(
              executable,
              directory,
              "redis" + (i + 1),
              LeastRedisUsers.settings(namespace),
              failover.setsClocks());
      member.start(i == 0 ? null : members.get(0));
      members.add(member);
    }
    for (Member replica : members.subList(1, members.size())) {
      await(replica + " in sync", replica::isInSync);
    }
    for (int i = 0; i < sentinelCount; i++) {
      int port = RedisProcess.freePort();
      sentinelPorts.add(port);
      sentinels.add(
          RedisProcess.sentinel(
              executable,
              directory.resolve("sentinel" + (i + 1)),
              List.of(
                  "port " + port,
                  "bind " + Door.SENTINELS,
                  "sentinel monitor %s 127.0.0.1 %d %d"
                      .formatted(NAME, members.get(0).door().port(), QUORUM),
                  "sentinel down-after-milliseconds %s %d".formatted(NAME, DOWN_AFTER_MILLIS),
                  "sentinel failover-timeout %s %d".formatted(NAME, FAILOVER_TIMEOUT_MILLIS),
                  "sentinel parallel-syncs %s 1".formatted(NAME))));
    }
    for (int i = 0; i < sentinelCount; i++) {
      int at = i;
      await(
          "Sentinels know each other and all replicas",
          () -> {
            Map<String, String> known = askSentinel(at, sentinel -> sentinel.master(NAME));
            return Integer.toString(replicas).equals(known.get("num-slaves"))
                && Integer.toString(sentinelCount - 1).equals(known.get("num-other-sentinels"));
          });
    }
  }

  private static Path create(Path directory) {
    try {
      return Files.createDirectories(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What game nodes and writers are given. */
  String uri() {
    return sentinelPorts.isEmpty()
        ? "redis://127.0.0.1:" + members.get(0).door().port()
        : sentinelPorts.stream()
            .map(port -> Door.SENTINELS + ":" + port)
            .collect(Collectors.joining(",", "redis-sentinel://", "#" + NAME));
  }

  List<Member> members() {
    return members;
  }

  /** The primary by its own word, where there is only one. */
  Member primary() {
    List<Member> primaries =
        members.stream().filter(Member::isAlive).filter(Member::isPrimary).toList();
    if (primaries.size() != 1) {
      throw new IllegalStateException("primaries: " + primaries);
    }
    return primaries.get(0);
  }

  /** Whether one server that lives calls itself primary, and all others follow it. */
  boolean hasOnePrimary() {
    List<Member> living = members.stream().filter(Member::isAlive).toList();
    return living.stream().filter(Member::isPrimary).count() == 1
        && living.stream().filter(Member::isReplica).count() == living.size() - 1;
  }

  /** The first replica that is in sync with the primary. */
  Member replica() {
    await("a replica in sync", () -> members.stream().anyMatch(m -> m.isAlive() && m.isInSync()));
    return members.stream().filter(m -> m.isAlive() && m.isInSync()).findFirst().orElseThrow();
  }

  /** All that should hold what the primary holds. */
  List<Member> othersThan(Member primary) {
    return members.stream().filter(member -> member != primary).toList();
  }

  /** Waits until another one is primary; which. */
  Member awaitPromotion(Member old) {
    List<Member> others = othersThan(old);
    await("a promotion", () -> others.stream().anyMatch(m -> m.isAlive() && m.isPrimary()));
    return others.stream().filter(m -> m.isAlive() && m.isPrimary()).findFirst().orElseThrow();
  }

  /** Asks for a failover without a fault. */
  void orderFailover() {
    askSentinel(0, sentinel -> sentinel.failover(NAME));
  }

  private <T> T askSentinel(int at, Function<RedisSentinelCommands<String, String>, T> question) {
    RedisURI uri =
        RedisURI.builder()
            .withHost(Door.SENTINELS)
            .withPort(sentinelPorts.get(at))
            .withTimeout(Duration.ofSeconds(5))
            .build();
    try (StatefulRedisSentinelConnection<String, String> connection = client.connectSentinel(uri)) {
      return question.apply(connection.sync());
    }
  }

  static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("not within " + PATIENCE_SECONDS + " s: " + what);
      }
      try {
        TimeUnit.MILLISECONDS.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while waiting for: " + what, e);
      }
    }
  }

  @Override
  public void close() {
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    sentinels.forEach(RedisProcess::close); // first, else they fail over
    members.forEach(Member::close);
  }
}

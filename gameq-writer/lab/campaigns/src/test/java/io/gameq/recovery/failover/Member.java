package io.gameq.recovery.failover;

import io.gameq.servers.ProcessClock;
import io.gameq.servers.RedisProcess;
import io.gameq.writer.campaign.Signals;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One Redis server of a topology: its process, which may die and start again empty, and its {@link
 * Door}. Used by the campaign's thread.
 */
final class Member implements AutoCloseable {
  private final String executable;
  private final Path directory;
  private final String name;
  private final List<String> users;
  private final @Nullable ProcessClock clock;
  private final int port = RedisProcess.freePort();
  private final Door door = new Door(port);
  private final RedisClient client = RedisClient.create();
  private int starts;
  private @Nullable RedisProcess process;

  /**
   * Does not start yet.
   *
   * @param hasOwnClock whether its clock may be set
   */
  Member(String executable, Path directory, String name, List<String> users, boolean hasOwnClock) {
    this.clock = hasOwnClock ? new ProcessClock(directory.resolve(name + ".clock")) : null;
    this.users = users;
    this.executable = executable;
    this.directory = directory;
    this.name = name;
  }

  /** Starts empty: as a replica of another, or, with null, as a primary. */
  void start(@Nullable Member primary) {
    List<String> settings =
        new ArrayList<>(
            List.of(
                "port " + port,
                "bind " + Door.SERVERS + " 127.0.0.1",
                "save \"\"",
                "appendonly no",
                "maxmemory-policy noeviction",
                "repl-diskless-sync yes",
                "repl-diskless-sync-delay 0",
                "replica-announce-ip 127.0.0.1",
                "replica-announce-port " + door.port()));
    settings.addAll(users);
    if (primary != null) {
      settings.add("replicaof 127.0.0.1 " + primary.door.port());
    }
    process =
        RedisProcess.server(
            clock == null ? List.of(executable) : clock.startOf(executable),
            directory.resolve(name + "-" + ++starts),
            settings);
  }

  Door door() {
    return door;
  }

  private RedisProcess running() {
    if (process == null) {
      throw new IllegalStateException(name + " does not run");
    }
    return process;
  }

  /** kill -9. */
  void kill() {
    close(running());
  }

  private static void close(RedisProcess process) {
    process.close();
    ProcessClock.forget(process.pid());
  }

  /** Sets the clock of this server alone, while it serves; returns when it knows. */
  void setClock(Duration ahead) {
    if (clock == null) {
      throw new IllegalStateException(name + " has the host's clock");
    }
    clock.set(ahead, () -> Long.parseLong(ask(redis -> redis.time().get(0))) * 1_000);
  }

  /** SIGSTOP. */
  void stop() {
    Signals.stop(running().pid());
  }

  /** SIGCONT. */
  void resume() {
    Signals.resume(running().pid());
  }

  boolean isAlive() {
    return running().isAlive();
  }

  /** Asks the server past its door; throws RedisException when it does not answer. */
  <T> T ask(Function<RedisCommands<String, String>, T> question) {
    RedisURI uri =
        RedisURI.builder()
            .withHost("127.0.0.1")
            .withPort(port)
            .withTimeout(Duration.ofSeconds(5))
            .build();
    try (StatefulRedisConnection<String, String> connection = client.connect(uri)) {
      return question.apply(connection.sync());
    }
  }

  /** What INFO replication says of this; empty when the server does not answer. */
  private String replication(String field) {
    try {
      return ask(redis -> redis.info("replication"))
          .lines()
          .filter(line -> line.startsWith(field + ":"))
          .map(line -> line.substring(field.length() + 1).trim())
          .findFirst()
          .orElse("");
    } catch (RedisException e) {
      return "";
    }
  }

  boolean isPrimary() {
    return replication("role").equals("master");
  }

  boolean isReplica() {
    return replication("role").equals("slave");
  }

  /** Whether it is a replica that has all that its primary had a moment ago. */
  boolean isInSync() {
    return replication("master_link_status").equals("up")
        && replication("master_sync_in_progress").equals("0");
  }

  @Override
  public void close() {
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    if (process != null) {
      close(process);
    }
    door.close();
  }

  @Override
  public String toString() {
    return name;
  }
}

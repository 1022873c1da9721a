package io.gameq.writer.campaign;

import io.gameq.rights.MySqlRights.Role;
import io.gameq.servers.ChildJvm;
import io.gameq.servers.ChildJvm.Build;
import io.gameq.servers.LeastRedisUsers;
import io.gameq.writer.CampaignWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The process of a writer: started, killed, started again. Thread-safe enough for one campaign
 * thread and its traps.
 */
public class WriterJvm {
  /** The least that the configuration takes. */
  public static final int LEASE_SECONDS = 5;

  /** Of the line that it logs when its workers have started. */
  private static final String RUNS = "WriterService - writer ";

  private static final int PATIENCE_SECONDS = 120;

  private final Path log;
  private final Path config;
  private Build build;
  private ChildJvm process;

  /** How many of its starts had come to work when the last one was made. */
  private long runsBefore;

  public WriterJvm(Path directory, String name, String namespace, String redisUri, String jdbcUrl)
      throws IOException {
    this(Build.THIS, directory, name, namespace, redisUri, jdbcUrl);
  }

  /** One of another build. */
  WriterJvm(
      Build build, Path directory, String name, String namespace, String redisUri, String jdbcUrl)
      throws IOException {
    this.build = build;
    this.log = directory.resolve(name + ".log");
    this.config = directory.resolve(name + ".yaml");
    Files.writeString(
        config,
        """
        namespace: %s
        slots: %d
        redis: { uri: "%s" }
        mysql: { url: "%s", user: %s, password: %s }
        writer: { name: %s, workers: 2, leaseSeconds: %d }
        """
            .formatted(
                namespace,
                CampaignNode.SLOTS,
                LeastRedisUsers.uri(redisUri, Role.WRITER, namespace),
                jdbcUrl,
                CampaignMySql.login(Role.WRITER).user(),
                CampaignMySql.login(Role.WRITER).password(),
                name,
                LEASE_SECONDS));
    this.process = launch();
  }

  private ChildJvm launch() {
    runsBefore = runs();
    return ChildJvm.start(
        build, log, CampaignWriter.class, List.of("run", "--config", config.toString()), Map.of());
  }

  /** How often it came to work, of all its starts. */
  private long runs() {
    try {
      return Files.exists(log)
          ? Files.readAllLines(log, StandardCharsets.ISO_8859_1).stream()
              .filter(line -> line.contains(RUNS))
              .count()
          : 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Waits until it is at work. One that ends before, since a server kept it waiting too long, is
   * started again, as a supervisor does.
   */
  public void awaitReady() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (runs() == runsBefore) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("a writer does not come to work: see " + log);
      }
      if (!process.isAlive()) {
        process = launch();
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }

  public ChildJvm process() {
    return process;
  }

  public void kill() {
    process.kill();
  }

  /** Kills it if it lives, and starts it anew; returns when it is at work. */
  public void restart() {
    process.kill();
    process = launch();
    awaitReady();
  }

  /** The same as another build. */
  void restartAs(Build another) {
    build = another;
    restart();
  }

  /** Where its configuration is. */
  Path config() {
    return config;
  }

  /** Lets it go on, or starts it anew. */
  public void heal() {
    Signals.resume(process.pid());
    if (!process.isAlive()) {
      restart();
    }
  }
}

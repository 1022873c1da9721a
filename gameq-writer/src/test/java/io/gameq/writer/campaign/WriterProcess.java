package io.gameq.writer.campaign;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A writer: its process, and the proxies between it and its servers. Thread-safe enough for one
 * campaign thread and its traps.
 */
final class WriterProcess implements AutoCloseable {
  /** The least that the configuration takes. */
  static final int LEASE_SECONDS = 5;

  private final Path log;
  private final Path config;
  private final FaultProxy redis;
  private final FaultProxy mysql;
  private ChildJvm process;

  WriterProcess(
      Path directory,
      String name,
      String namespace,
      String database,
      FaultProxy redis,
      FaultProxy mysql)
      throws IOException {
    this.log = directory.resolve(name + ".log");
    this.config = directory.resolve(name + ".yaml");
    this.redis = redis;
    this.mysql = mysql;
    Files.writeString(
        config,
        """
        namespace: %s
        slots: %d
        redis: { uri: "redis://127.0.0.1:%d" }
        mysql: { url: "%s", user: %s, password: %s }
        writer: { name: %s, workers: 2, leaseSeconds: %d }
        """
            .formatted(
                namespace,
                CampaignNode.SLOTS,
                redis.port(),
                World.jdbcUrl(mysql.port(), database),
                CampaignServers.GAME_USER,
                CampaignServers.GAME_PASSWORD,
                name,
                LEASE_SECONDS));
    this.process = launch();
  }

  private ChildJvm launch() {
    return ChildJvm.start(log, CampaignWriter.class, List.of("run", "--config", config.toString()));
  }

  FaultProxy redis() {
    return redis;
  }

  FaultProxy mysql() {
    return mysql;
  }

  ChildJvm process() {
    return process;
  }

  void kill() {
    process.kill();
  }

  /** Kills it if it lives, and starts it anew. */
  void restart() {
    process.kill();
    process = launch();
  }

  void heal() {
    redis.heal();
    mysql.heal();
    Signals.resume(process.pid());
    if (!process.isAlive()) {
      restart();
    }
  }

  @Override
  public void close() {
    process.kill();
    redis.close();
    mysql.close();
  }
}

package io.gameq.writer.campaign;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The process of a writer: started, killed, started again. Thread-safe enough for one campaign
 * thread and its traps.
 */
public class WriterJvm {
  /** The least that the configuration takes. */
  public static final int LEASE_SECONDS = 5;

  private final Path log;
  private final Path config;
  private ChildJvm process;

  public WriterJvm(Path directory, String name, String namespace, String redisUri, String jdbcUrl)
      throws IOException {
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
                redisUri,
                jdbcUrl,
                CampaignMySql.GAME_USER,
                CampaignMySql.GAME_PASSWORD,
                name,
                LEASE_SECONDS));
    this.process = launch();
  }

  private ChildJvm launch() {
    return ChildJvm.start(log, CampaignWriter.class, List.of("run", "--config", config.toString()));
  }

  public ChildJvm process() {
    return process;
  }

  public void kill() {
    process.kill();
  }

  /** Kills it if it lives, and starts it anew. */
  public void restart() {
    process.kill();
    process = launch();
  }

  /** Lets it go on, or starts it anew. */
  public void heal() {
    Signals.resume(process.pid());
    if (!process.isAlive()) {
      restart();
    }
  }
}

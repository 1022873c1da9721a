package io.gameq.recovery.failover;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.recovery.ToolProcess;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rights.RedisRights;
import io.gameq.writer.campaign.CampaignMySql;
import io.gameq.writer.campaign.NodeJvm;
import io.gameq.writer.campaign.ReportedConflict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * {@code gameq-recovery} as a process, over the WAL of a node that is gone. Used by the campaign's
 * thread.
 */
final class RecoveryTool {
  /** Ends a case in which it hangs; two at once, on a busy machine, take a minute to start. */
  private static final int LIMIT_SECONDS = 180;

  private static final int COULD_NOT_RUN = 2;
  private static final Pattern WRITTEN = Pattern.compile("Replayed .*: ([0-9,]+) written");

  /** What a plan says of rows that the tool leaves lost. */
  private static final Set<String> LOST_FOR_GOOD = Set.of("conflict", "parked", "too_old");

  private final FailoverWorld world;
  private final List<String> wals = new ArrayList<>();
  private int runs;

  RecoveryTool(FailoverWorld world, NodeJvm gone) throws IOException {
    this.world = world;
    try (Stream<Path> all = Files.list(world.wals())) {
      all.map(Path::toString)
          .filter(wal -> Path.of(wal).getFileName().toString().startsWith(gone.name() + "-"))
          .forEach(wals::add);
    }
  }

  /** Puts back what is lost, at a pace that leaves time to be killed, and is killed. */
  void replayAndBeKilled(Random random) throws IOException {
    try (Run run = start("replay", "--execute", "--rate", "200")) {
      FailoverWorld.pause(1_000 + random.nextInt(3_000));
      run.tool().kill();
    }
  }

  /** Puts back what is lost. */
  void replay() throws IOException, InterruptedException {
    try (Run run = start("replay", "--execute")) {
      run.end();
    }
  }

  /** Throws when no run that came to its end has written a row. */
  void requireWritten() throws IOException {
    if (written(world.directory) == 0) {
      throw new IllegalStateException("the tool put nothing back: this case has tested nothing");
    }
  }

  /** Two of them at the same time. */
  void replayTwiceAtOnce() throws IOException, InterruptedException {
    try (Run one = start("replay", "--execute");
        Run other = start("replay", "--execute")) {
      one.end();
      other.end();
    }
  }

  /** Has it name what it leaves lost, for the history; returns how many rows that are. */
  int reportConflicts() throws IOException, InterruptedException {
    Path details = world.directory.resolve("plan");
    try (Run run = start("plan", "--details", details.toString())) {
      run.end();
    }
    int lost = 0;
    for (JsonNode row : new ObjectMapper().readTree(details.resolve("plan.json").toFile())) {
      if (LOST_FOR_GOOD.contains(row.get("status").asText())) {
        lost++;
        world.reportedByTool.add(
            new ReportedConflict(
                row.get("table").asText() + ":" + row.get("key").asText(),
                Long.parseUnsignedLong(row.get("version").asText()),
                false));
      }
    }
    return lost;
  }

  /** A run of the tool, and where its output goes. */
  private record Run(ToolProcess tool, Path output) implements AutoCloseable {
    /** Waits for its end; throws with what it printed when it could not run. */
    void end() throws IOException, InterruptedException {
      if (tool.await(LIMIT_SECONDS) == COULD_NOT_RUN) {
        throw new IllegalStateException(
            "the tool could not run, see %s: %s".formatted(output, Files.readString(output)));
      }
    }

    @Override
    public void close() {
      tool.close();
    }
  }

  private Run start(String... command) throws IOException {
    List<String> arguments = new ArrayList<>(List.of(command));
    arguments.addAll(
        List.of(
            "--include-live", // its last sign of life may be younger than it is dead
            "--redis",
            world.topology.uri(),
            "--redis-user",
            RedisRights.user(world.namespace(), Role.RECOVERY),
            "--mysql",
            world.jdbcUrl(),
            "--mysql-user",
            CampaignMySql.login(Role.RECOVERY).user()));
    arguments.addAll(wals);
    Path output = world.directory.resolve("tool-" + ++runs + ".log");
    return new Run(
        ToolProcess.start(
            output, CampaignMySql.login(Role.RECOVERY).password(), List.of("-Xmx128m"), arguments),
        output);
  }

  /** Rows that runs which came to their end wrote. */
  static long written(Path directory) throws IOException {
    long written = 0;
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file :
          files.filter(file -> file.getFileName().toString().startsWith("tool-")).toList()) {
        Matcher matcher = WRITTEN.matcher(Files.readString(file));
        while (matcher.find()) {
          written += Long.parseLong(matcher.group(1).replace(",", ""));
        }
      }
    }
    return written;
  }
}

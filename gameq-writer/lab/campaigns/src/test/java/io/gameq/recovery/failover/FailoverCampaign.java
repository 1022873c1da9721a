package io.gameq.recovery.failover;

import io.gameq.writer.campaign.CampaignMySql;
import io.gameq.writer.campaign.Checker;
import io.gameq.writer.campaign.DrainCheck;
import io.gameq.writer.campaign.FinalState;
import io.gameq.writer.campaign.Held;
import io.gameq.writer.campaign.History;
import io.gameq.writer.campaign.HistoryReplay;
import io.gameq.writer.campaign.NodeJvm;
import io.gameq.writer.campaign.SentChecks;
import io.gameq.writer.campaign.SentEnd;
import io.gameq.writer.campaign.SentOutcome;
import io.gameq.writer.campaign.Violation;
import io.gameq.writer.campaign.Violation.Kind;
import io.gameq.writer.campaign.WriterJvm;
import io.gameq.writer.campaign.messages.MessageChecker;
import io.gameq.writer.campaign.messages.MessageEnd;
import io.gameq.writer.campaign.messages.MessageHistory;
import io.gameq.writer.campaign.messages.MessageOutcome;
import io.gameq.writer.campaign.messages.MessageViolation;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;

/** Runs one case: load, failover, healing, drain, and every check. Used by one thread. */
final class FailoverCampaign {
  private static final int DRAIN_SECONDS = 60;
  private static final int BEFORE_MILLIS = 1_500;
  private static final int AFTER_MILLIS = 1_500;

  private final CampaignMySql mysql;
  private final Path directory;

  FailoverCampaign(CampaignMySql mysql, Path directory) {
    this.mysql = mysql;
    this.directory = directory;
  }

  /** Where histories, logs and WALs of a case are. */
  Path filesOf(Failover failover, long seed) {
    return directory.resolve(seed + "-" + failover.name().replaceAll("[^A-Za-z0-9]+", "-"));
  }

  /** Makes one kind of failover happen by a seed. */
  FailoverResult run(Failover failover, long seed) throws Exception {
    Random random = new Random(seed ^ failover.name().hashCode());
    try (FailoverWorld world =
        new FailoverWorld(mysql, filesOf(failover, seed), failover, random.nextLong())) {
      FailoverWorld.pause(BEFORE_MILLIS + random.nextInt(1_000));
      failover.injection().inject(world, random);
      world.awaitHealed();
      FailoverWorld.pause(AFTER_MILLIS);
      world.heal();
      long calmAt = System.nanoTime();
      List<Violation> violations = new ArrayList<>();
      for (NodeJvm node : world.nodes) {
        int open = node.stopPlaying();
        if (open > 0) {
          violations.add(new Violation(Kind.LOST, open + " commits never got an outcome"));
        }
      }
      List<String> leftovers = awaitDrained(world);
      double drainSeconds = (System.nanoTime() - calmAt) / 1e9;
      if (!leftovers.isEmpty()) {
        violations.add(new Violation(Kind.LOST, "not drained: " + leftovers));
      }
      for (NodeJvm node : world.nodes) {
        int unsettled = node.settle();
        if (unsettled > 0) {
          violations.add(
              new Violation(
                  Kind.LOST, unsettled + " acknowledged commits neither durable nor reported"));
        }
      }
      world.nodes.forEach(NodeJvm::noteHeld);
      History history = world.history();
      history.sightings.addAll(world.reader.stop());
      history.windows.add(world.window());
      Set<String> dead = MessageEnd.dead(world.reader.queue());
      world.nodes.forEach(NodeJvm::kill);
      world.writers.forEach(WriterJvm::kill);
      double firstCommitSeconds = world.firstCommitSeconds(history);
      Losses.Count losses = check(world, history, random, violations);
      SentOutcome sent = new SentChecks(history, SentEnd.of(world.admin())).check(violations);
      Files.write(
          world.directory.resolve("violations.txt"),
          violations.stream().map(Violation::toString).toList());
      MessageOutcome messages = checkMessages(world, dead);
      return new FailoverResult(
          failover.name(),
          seed,
          history.acknowledgedChanges(),
          losses,
          world.replayedByNodes(),
          RecoveryTool.written(world.directory),
          history.conflicts.size(),
          firstCommitSeconds,
          world.healedSeconds(),
          drainSeconds,
          violations,
          sent,
          messages);
    }
  }

  /** Rows first: whatever clock was wrong, they do not wait for it. */
  private static List<String> awaitDrained(FailoverWorld world) throws InterruptedException {
    List<String> rows = await(world, DrainCheck::rows);
    world.passTime();
    return rows.isEmpty() ? await(world, DrainCheck::leftovers) : rows;
  }

  private static List<String> await(
      FailoverWorld world, BiFunction<RedisCommands<String, String>, String, List<String>> look)
      throws InterruptedException {
    Member primary = world.topology.primary();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DRAIN_SECONDS);
    while (true) {
      List<String> leftovers = primary.ask(redis -> look.apply(redis, world.namespace()));
      if (leftovers.isEmpty() || System.nanoTime() > deadline) {
        return leftovers;
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  private static MessageOutcome checkMessages(FailoverWorld world, Set<String> dead)
      throws Exception {
    MessageHistory history = world.messages();
    Set<String> deeds = FinalState.deeds(FinalState.rows(world.admin()));
    MessageOutcome outcome =
        new MessageChecker(history, dead, deeds, world.trouble())
            .check()
            .with(world.takenEarly(history));
    Files.write(
        world.directory.resolve("message-violations.txt"),
        outcome.violations().stream().map(MessageViolation::toString).toList());
    return outcome;
  }

  private static Losses.Count check(
      FailoverWorld world, History history, Random random, List<Violation> violations)
      throws Exception {
    Map<String, Held> rows = FinalState.rows(world.admin());
    try (HistoryReplay replay = new HistoryReplay(world.wals(), world.admin(), world.jdbcUrl())) {
      replay.readWals(history);
      replay.damaged().forEach(damage -> System.out.println("  note: " + damage));
      Losses.Count losses = world.losses.count(replay.commits());
      violations.addAll(new Checker(history, rows, replay.setAside()).check());
      violations.addAll(replay.checkVersions(rows));
      violations.addAll(replay.twice(random));
      return losses;
    }
  }
}

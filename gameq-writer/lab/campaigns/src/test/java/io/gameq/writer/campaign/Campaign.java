package io.gameq.writer.campaign;

import io.gameq.servers.ChildJvm.Build;
import io.gameq.writer.campaign.Violation.Kind;
import io.gameq.writer.campaign.messages.MessageChecker;
import io.gameq.writer.campaign.messages.MessageEnd;
import io.gameq.writer.campaign.messages.MessageOutcome;
import io.gameq.writer.campaign.messages.Trouble;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Runs one case: load, faults, healing, drain, and every check. Used by one thread. */
final class Campaign {
  private static final int DRAIN_SECONDS = 60;

  /** Load before the first fault, between all of them together at most, and after the last one. */
  private static final int BEFORE_MILLIS = 700;

  private static final int MOST_PAUSES_MILLIS = 3_000;
  private static final int AFTER_MILLIS = 1_000;

  /** Nodes that were stopped or started anew catch up. */
  private static final long AFTER_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final CampaignServers servers;
  private final Build build;
  private final Path directory;

  Campaign(CampaignServers servers, Path directory) {
    this(servers, Build.THIS, directory);
  }

  /** One that begins with nodes and writers of another build. */
  Campaign(CampaignServers servers, Build build, Path directory) {
    this.servers = servers;
    this.build = build;
    this.directory = directory;
  }

  /** Where histories, logs and WALs of a case are. */
  Path filesOf(Fault fault, long seed) {
    return directory.resolve(seed + "-" + fault.name().replaceAll("[^A-Za-z0-9]+", "-"));
  }

  /** Injects one kind of fault by a seed. */
  CaseResult run(Fault fault, long seed) throws Exception {
    Random random = new Random(seed ^ fault.name().hashCode());
    try (World world =
        new World(servers, build, filesOf(fault, seed), random.nextLong(), fault.setsClocks())) {
      TimeUnit.MILLISECONDS.sleep(BEFORE_MILLIS);
      long faultsFrom = System.nanoTime();
      for (int i = 0; i < fault.times(); i++) {
        TimeUnit.MILLISECONDS.sleep(random.nextInt(1 + MOST_PAUSES_MILLIS / fault.times()));
        fault.injection().inject(world, random);
      }
      TimeUnit.MILLISECONDS.sleep(AFTER_MILLIS);
      world.heal();
      long healedAt = System.nanoTime();
      List<Violation> violations = new ArrayList<>();
      for (NodeProcess node : world.nodes) {
        int open = node.stopPlaying();
        if (open > 0) {
          violations.add(new Violation(Kind.LOST, open + " commits never got an outcome"));
        }
      }
      List<String> leftovers = awaitDrained(world);
      double drainSeconds = (System.nanoTime() - healedAt) / 1e9;
      if (!leftovers.isEmpty()) {
        violations.add(new Violation(Kind.LOST, "not drained: " + leftovers));
      }
      world.nodes.forEach(NodeProcess::noteHeld);
      SentChecks.awaitTold(world::history, world.mysql());
      History history = world.history();
      history.sightings.addAll(world.reader.stop());
      Set<String> dead = MessageEnd.dead(world.reader.queue());
      world.nodes.forEach(NodeProcess::kill);
      world.writers.forEach(WriterProcess::kill);
      Set<String> deeds = check(world, history, random, violations);
      SentOutcome sent = new SentChecks(history, SentEnd.of(world.mysql())).check(violations);
      sent.untold().forEach(row -> violations.add(new Violation(Kind.LOST, "untold: " + row)));
      MessageOutcome messages =
          new MessageChecker(
                  world.messages(),
                  dead,
                  deeds,
                  Trouble.notForgetting(faultsFrom, healedAt + AFTER_NANOS).with(world.leaps))
              .check();
      return new CaseResult(
          fault.name(),
          seed,
          fault.times(),
          history.acknowledgedChanges(),
          history.sightings.size(),
          drainSeconds,
          violations,
          sent,
          messages);
    }
  }

  /** Rows first: whatever clock was wrong, they do not wait for it. */
  private List<String> awaitDrained(World world) throws InterruptedException {
    List<String> rows = await(() -> DrainCheck.rows(servers.redis(), world.namespace));
    world.passTime();
    return rows.isEmpty()
        ? await(() -> DrainCheck.leftovers(servers.redis(), world.namespace))
        : rows;
  }

  private static List<String> await(Supplier<List<String>> look) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DRAIN_SECONDS);
    List<String> leftovers = look.get();
    while (!leftovers.isEmpty() && System.nanoTime() < deadline) {
      TimeUnit.MILLISECONDS.sleep(50);
      leftovers = look.get();
    }
    return leftovers;
  }

  /** Returns the commits of which a deed was applied, or set aside as MySQL refused it. */
  private Set<String> check(World world, History history, Random random, List<Violation> violations)
      throws Exception {
    Map<String, Held> rows = FinalState.rows(world.mysql());
    try (HistoryReplay replay =
        new HistoryReplay(
            world.directory.resolve("wal"),
            world.mysql(),
            servers.mysql().jdbcUrl(world.database))) {
      replay.readWals(history);
      Set<String> setAside = replay.setAside();
      violations.addAll(new Checker(history, rows, setAside).check());
      replay.damaged().forEach(damage -> System.out.println("  note: " + damage));
      violations.addAll(replay.checkVersions(rows));
      violations.addAll(replay.twice(random));
      violations.addAll(LateColumns.check(world.mysql(), history));
      Set<String> deeds = new HashSet<>(FinalState.deeds(rows));
      setAside.stream()
          .filter(letter -> Change.table(letter).equals("deed"))
          .forEach(letter -> deeds.add(letter.substring(letter.indexOf('=') + 1)));
      return deeds;
    }
  }
}

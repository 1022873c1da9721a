package io.gameq.lab.bench;

import io.gameq.lab.bench.BenchOptions.Part;
import io.gameq.lab.contender.redis.RawRedis;
import io.gameq.lab.report.BenchResult;
import io.gameq.lab.report.Figures;
import java.util.EnumSet;
import java.util.Set;
import org.HdrHistogram.Histogram;

/** Runs the parts one after the other: rounds first, then what runs once. One thread. */
final class BenchRun {
  /** One makes the rows that the others update. */
  private static final int LEAST_WARM_UPS = 2;

  private static final Set<Part> OF_A_ROUND =
      EnumSet.of(Part.CLOSED, Part.PACED, Part.PRESSURE, Part.DRAIN, Part.LIMITS);

  private static final String LOGIN = "login";

  private final BenchOptions options;
  private final BenchWorld.Place place;
  private final BenchResult result;

  BenchRun(BenchOptions options, BenchWorld.Place place, BenchResult result) {
    this.options = options;
    this.place = place;
    this.result = result;
    Figures figures = result.figures();
    figures.limit(new Figures.Name(Part.PRESSURE.label(), "commits"), LimitsPart.RAW_REDIS);
    figures.limit(new Figures.Name(Part.DRAIN.label(), "rows"), LimitsPart.RAW_MYSQL);
    figures.limit(new Figures.Name(Part.BACKLOG.label(), "rows"), LimitsPart.RAW_MYSQL);
  }

  void run() throws InterruptedException {
    if (options.parts().isEmpty()) {
      return;
    }
    if (options.has(Part.LIMITS)) {
      RawRedis.checkUri(place.servers().redisUri());
    }
    try (BenchWorld world = new BenchWorld(options, place)) {
      Histogram logins = world.login();
      result.figures().addMillis(LOGIN, "login", logins);
      result.figures().add(LOGIN, "Redis memory", "B", world.redisBytesPerSession());
      if (options.parts().stream().anyMatch(OF_A_ROUND::contains)) {
        rounds(world);
      }
      if (options.has(Part.BOTH)) {
        new BothPart(world, result).run();
      }
      if (options.has(Part.LOGINS)) {
        new LoginsPart(world, result).run();
      }
      if (options.has(Part.BACKLOG)) {
        new BacklogPart(world, result).run();
      }
      if (options.has(Part.RECOVERY)) {
        new RecoveryPart(world, result).run();
      }
      if (options.has(Part.TOPICS)) {
        new TopicsPart(world, result).run();
      }
    }
  }

  /** The first ones warm up. */
  private void rounds(BenchWorld world) throws InterruptedException {
    BenchOptions.Rounds rounds = options.rounds();
    long warmNanos = rounds.warmNanos();
    for (int i = 1; i <= LEAST_WARM_UPS || System.nanoTime() - warmNanos < 0; i++) {
      BenchResult warmUp = new BenchResult();
      new Round(world, "warm-up " + i, warmUp).run();
      result.checksOf(warmUp);
    }
    for (int i = 1; i <= rounds.count(); i++) {
      new Round(world, "round %s of %s".formatted(i, rounds.count()), result).run();
    }
  }
}

package io.gameq.lab.bench;

import io.gameq.lab.bench.BenchOptions.Part;
import io.gameq.lab.bench.TopicLoad.Keys;
import io.gameq.lab.report.BenchResult;
import io.gameq.lab.report.Figures;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Messages of topics with a handler that does nothing: how many are published and handled a second,
 * apart and at once; how late timed ones are; what is merged away; what pending ones take in Redis.
 * One thread.
 */
final class TopicsPart {
  private static final String NAME = Part.TOPICS.label();

  /** Messages of each measurement but the last: some seconds each. */
  private static final int MESSAGES = 500_000;

  /** Of which the memory is measured. */
  private static final int WAITING = 2_000_000;

  private static final int DUE_PER_SECOND = 10_000;
  private static final int TIMED_SECONDS = 10;

  /** Of a workload in which 82 % of the messages have a key that is pending already. */
  private static final double DISTINCT = 0.18;

  private final BenchWorld world;
  private final Figures figures;
  private final TopicLoad load;

  TopicsPart(BenchWorld world, BenchResult result) {
    this.world = world;
    this.figures = result.figures();
    this.load = new TopicLoad(world.node().queue(), world.options().shape().threads());
  }

  void run() throws InterruptedException {
    warmUp();
    world.progress("topics: publish one by one");
    add("published, one a commit", load.publish("single", MESSAGES, 1, Keys.distinct()));
    figures.add(NAME, "handled, one a handler", "1/s", load.handle("single", 1, MESSAGES));
    world.progress("topics: publish and handle many at a time");
    add("published, 100 a commit", load.publish("many", MESSAGES, 100, Keys.distinct()));
    figures.add(NAME, "handled, 500 a handler", "1/s", load.handle("many", 500, MESSAGES));
    world.progress("topics: both at once");
    figures.add(
        NAME, "published and handled at once", "1/s", load.both("both", MESSAGES, 100, 500));
    world.progress("topics: timed");
    Histogram late = load.timed("timed", DUE_PER_SECOND, TIMED_SECONDS);
    figures.add(NAME, "timed messages due", "1/s", DUE_PER_SECOND);
    figures.addMillis(NAME, "handled after due", late);
    world.progress("topics: duplicates");
    add(
        "published, 82 % of them duplicates",
        load.publish("merged", MESSAGES, 100, Keys.of((int) (MESSAGES * DISTINCT))));
    figures.add(
        NAME, "share published that is merged away", "", load.mergedShare("merged", MESSAGES));
    memory();
  }

  private void add(String what, double perSecond) {
    figures.add(NAME, what, "1/s", perSecond);
  }

  private void warmUp() throws InterruptedException {
    world.progress("topics: warm-up");
    double unused = load.publish("warm", MESSAGES, 1, Keys.distinct());
    unused = load.handle("warm", 100, MESSAGES);
  }

  private void memory() throws InterruptedException {
    world.progress(String.format(Locale.ROOT, "topics: %,d pending", WAITING));
    long before = world.memory().usedBytes();
    double unused = load.publish("pending", WAITING, 100, Keys.distinct());
    TimeUnit.MILLISECONDS.sleep(100); // Redis may still be growing a table
    figures.add(NAME, "messages that wait", "", (double) WAITING);
    figures.add(
        NAME,
        "Redis memory of a message that waits",
        "B",
        (world.memory().usedBytes() - before) / (double) WAITING);
  }
}

package io.gameq.lab.bench;

import io.gameq.lab.bench.BenchOptions.Part;
import io.gameq.lab.report.BenchResult;
import io.gameq.lab.report.Figures;
import org.HdrHistogram.Histogram;

/**
 * Everybody logs in again: by threads that each wait for one login, and all at once, in turn. One
 * thread.
 */
final class LoginsPart {
  private static final String NAME = Part.LOGINS.label();
  private static final int TIMES = 3;

  private final BenchWorld world;
  private final Figures figures;

  LoginsPart(BenchWorld world, BenchResult result) {
    this.world = world;
    this.figures = result.figures();
  }

  void run() throws InterruptedException {
    int players = world.options().shape().players();
    for (int time = 1; time <= TIMES; time++) {
      world.progress("logins: %s of %s".formatted(time, TIMES));
      long began = System.nanoTime();
      world.loginAgain();
      figures.add(NAME, "by eight threads", "1/s", players / secondsSince(began));
      began = System.nanoTime();
      Histogram atOnce = world.node().loginAtOnce();
      figures.add(NAME, "all at once", "1/s", players / secondsSince(began));
      figures.addMillis(NAME, "all at once, waited", atOnce);
    }
  }

  private static double secondsSince(long nanos) {
    return (System.nanoTime() - nanos) / 1e9;
  }
}

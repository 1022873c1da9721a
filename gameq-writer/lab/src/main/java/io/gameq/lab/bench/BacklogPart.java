package io.gameq.lab.bench;

import io.gameq.lab.bench.BenchOptions.Part;
import io.gameq.lab.redis.ClaimProbe;
import io.gameq.lab.report.BenchResult;
import io.gameq.lab.report.Figures;
import io.gameq.lab.workload.Fill;
import io.gameq.lab.workload.Workload;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Rows that wait in Redis without a writer: what they take there, that rewriting them takes no
 * more, how long claims of them last, and how fast they drain. One thread.
 */
final class BacklogPart {
  private static final String NAME = Part.BACKLOG.label();
  private static final int CLAIMS = 200;

  private final BenchWorld world;
  private final BenchOptions options;
  private final BenchResult result;
  private final Figures figures;

  BacklogPart(BenchWorld world, BenchResult result) {
    this.world = world;
    this.options = world.options();
    this.result = result;
    this.figures = result.figures();
  }

  void run() throws InterruptedException {
    Fill fill = new Fill(options.shape(), options.backlog().rows());
    Filling filling = new Filling(world, fill);
    world.emptyTables();
    world.progress(String.format(Locale.ROOT, "backlog: %,d rows", fill.rows()));
    long before = world.memory().usedBytes();
    figures.add(NAME, "rows that wait", "", (double) fill.rows());
    figures.add(NAME, "filled", "rows/s", filling.run(1));
    long filled = world.memory().usedBytes();
    long encoded = encodedBytes(fill);
    long sessions = (long) (world.redisBytesPerSession() * fill.players());
    figures.add(NAME, "encoded rows", "MB", encoded / 1e6);
    figures.add(NAME, "Redis memory of them", "MB", (filled - before) / 1e6);
    figures.add(NAME, "Redis memory of their sessions, counted as well", "MB", sessions / 1e6);
    figures.add(
        NAME,
        "Redis bytes for each encoded byte",
        "",
        (double) (filled - before + sessions) / encoded);
    rewrite(filling, before, filled);
    claim();
    world.progress("backlog: drain");
    new DrainPart(world).run(fill.rows()).addTo(figures, NAME);
    Fill.Check check = fill.check(1L + options.backlog().rewrites());
    world.rows().scan(Workload.TABLE, check::row);
    result.check(NAME, check.result());
  }

  private long encodedBytes(Fill fill) {
    long bytes = 0;
    for (int player = 0; player < fill.players(); player++) {
      for (int slot = 0; slot < fill.rowsOf(player); slot++) {
        bytes += world.encoding().bytes(fill.row(player, slot, 1));
      }
    }
    return bytes;
  }

  private void rewrite(Filling filling, long before, long filled) throws InterruptedException {
    long last = filled;
    for (int pass = 1; pass <= options.backlog().rewrites(); pass++) {
      world.progress("backlog: rewrite %s of %s".formatted(pass, options.backlog().rewrites()));
      double unused = filling.run(1L + pass);
      last = world.memory().usedBytes();
      result.series(NAME, "Redis memory after rewrites", "MB").add(pass, (last - before) / 1e6);
    }
    figures.add(
        NAME,
        "Redis memory after %s rewrites".formatted(options.backlog().rewrites()),
        "of before",
        (double) (last - before) / Math.max(1, filled - before));
  }

  private void claim() throws InterruptedException {
    world.progress("backlog: claims");
    TimeUnit.MILLISECONDS.sleep(options.mergeWindowMillis());
    ClaimProbe.Result claims = world.claims(CLAIMS);
    figures.addMillis(NAME, "claim of a full batch", claims.nanos());
    figures.add(NAME, "rows of a batch", "", claims.rowsPerCall());
    figures.addMillis(NAME, "claim of an idle slot", world.idleClaims(CLAIMS).nanos());
    figures.addMillis(NAME, "backlog of a slot asked", world.backlog().latency(CLAIMS));
  }
}

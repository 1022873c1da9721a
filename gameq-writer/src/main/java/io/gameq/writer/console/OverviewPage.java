package io.gameq.writer.console;

import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.console.HeldPages.HeldState;
import io.gameq.writer.status.Processes;
import io.gameq.writer.status.StatusLook;
import io.javalin.http.Context;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.distribution.HistogramSnapshot;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What waits, what is done, and whether something is to be done about it. Thread-safe. */
final class OverviewPage {
  private static final double OF_HUNDRED = 0.99;

  private final WriterConfig settings;
  private final MeterRegistry meters;
  private final Console.WriterView writer;

  OverviewPage(WriterConfig settings, MeterRegistry meters, Console.WriterView writer) {
    this.settings = settings;
    this.meters = meters;
    this.writer = writer;
  }

  /**
   * The page.
   *
   * @param problems why rows are not written now
   * @param toDo what is to be done about the game as a whole
   * @param held why rows wait: what operators paused, and tables that take none
   * @param writers how many run; 0 when it is not known
   * @param rowsPerSecond that all writers write
   * @param waits null before the first look at Redis
   * @param deadLetters -1 when they were not counted yet
   * @param mergeRatio row changes committed for each row written; null when it is not known
   */
  record Overview(
      List<String> problems,
      List<String> toDo,
      List<HeldState> held,
      long writers,
      double rowsPerSecond,
      @Nullable Map<String, @Nullable Object> waits,
      long deadLetters,
      @Nullable Double mergeRatio,
      Totals totals,
      List<Step> steps) {}

  /** Whose console it is. */
  record Of(String namespace, String writer) {}

  /** What this writer did since it started. */
  record Totals(
      double rows,
      double flushes,
      double owners,
      double givenBack,
      double reaped,
      double deadLetters,
      double stale) {}

  /**
   * How long a step took since this writer started, ms.
   *
   * @param mostOf what 99 of 100 took at most, rounded up to the next bound; -1 beyond the last
   */
  record Step(String name, long count, double mean, double mostOf, double longest) {
    static Step of(Timer timer) {
      HistogramSnapshot snapshot = timer.takeSnapshot();
      double mostOf = -1;
      for (CountAtBucket bucket : snapshot.histogramCounts()) {
        if (bucket.count() >= snapshot.count() * OF_HUNDRED) {
          mostOf = bucket.bucket(TimeUnit.MILLISECONDS);
          break;
        }
      }
      return new Step(
          String.valueOf(timer.getId().getTag("step")),
          snapshot.count(),
          snapshot.mean(TimeUnit.MILLISECONDS),
          Double.isFinite(mostOf) ? mostOf : -1,
          snapshot.max(TimeUnit.MILLISECONDS));
    }
  }

  void addTo(GuardedRoutes routes) {
    routes.look("overview", this::overview);
    routes.look("writer", context -> new Of(settings.namespace(), settings.writer().name()));
  }

  private Overview overview(Context context) {
    Backlog backlog = writer.backlog().get();
    Processes processes = writer.processes().get();
    double merges = gauge("gameq.merge.ratio");
    double counted = gauge("gameq.deadletters");
    long deadLetters = Double.isNaN(counted) ? -1 : Math.round(counted);
    return new Overview(
        writer.problems().get(),
        toDo(backlog, deadLetters),
        held(backlog),
        processes == null ? 0 : processes.writersThere(),
        processes == null ? 0 : processes.rowsPerSecond(),
        backlog == null ? null : StatusLook.BACKLOG.json(backlog),
        deadLetters,
        Double.isFinite(merges) ? merges : null,
        totals(),
        meters.find("gameq.writer.step").timers().stream()
            .map(Step::of)
            .sorted(Comparator.comparingLong(Step::count).reversed())
            .toList());
  }

  /** Before the first look there is nothing to say. */
  private List<String> toDo(@Nullable Backlog backlog, long deadLetters) {
    return backlog == null
        ? List.of()
        : new StatusLook(
                settings.namespace(),
                Instant.now(),
                backlog,
                "",
                writer.processes().get(),
                Math.max(0, deadLetters),
                "",
                writer.pauses().get())
            .toDo();
  }

  private List<HeldState> held(@Nullable Backlog backlog) {
    List<HeldState> all =
        new ArrayList<>(HeldState.of(writer.pauses().get().all(), writer.allParked()));
    all.addAll(HeldState.heldUp(backlog));
    return all;
  }

  private Totals totals() {
    var rowsOfFlushes = meters.find("gameq.writer.flush.rows").summary();
    return new Totals(
        count("gameq.writer.rows"),
        rowsOfFlushes == null ? 0 : rowsOfFlushes.count(),
        count("gameq.writer.owners"),
        count("gameq.writer.givenback"),
        count("gameq.writer.reaped"),
        count("gameq.writer.deadletters"),
        count("gameq.writer.stale"));
  }

  /** A counter's value; 0 when there is none. */
  private double count(String name) {
    var counter = meters.find(name).counter();
    return counter == null ? 0 : counter.count();
  }

  /** NaN when there is none, or it is not known. */
  private double gauge(String name) {
    var gauge = meters.find(name).gauge();
    return gauge == null ? Double.NaN : gauge.value();
  }
}

package io.gameq.writer.console;

import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.redis.RedisServerCheck.RedisState;
import io.gameq.redis.script.Waiting;
import io.gameq.writer.config.ConfigReader.WriterConfig;
import io.gameq.writer.console.Pulse.Beat;
import io.gameq.writer.status.Processes;
import io.gameq.writer.status.StatusLook;
import io.javalin.http.Context;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.distribution.HistogramSnapshot;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What waits, what is done, and whether something is to be done about it. Thread-safe. */
final class OverviewPage {
  private static final double OF_HUNDRED = 0.99;

  private final WriterConfig settings;
  private final Pulse pulse;
  private final Console.WriterView writer;

  OverviewPage(WriterConfig settings, Pulse pulse, Console.WriterView writer) {
    this.settings = settings;
    this.pulse = pulse;
    this.writer = writer;
  }

  /**
   * The page.
   *
   * @param problems why rows are not written now
   * @param toDo what is to be done about the game as a whole
   * @param held why rows wait: what operators paused, and tables that take none
   * @param writers how many run; 0 when it is not known
   * @param waits null before the first look at Redis
   * @param deadLetters -1 when they were not counted yet
   * @param mergeRatio row changes committed for each row written; null when it is not known
   * @param beats those after the one that was named
   */
  record Overview(
      List<String> problems,
      List<String> toDo,
      List<HeldState> held,
      long writers,
      @Nullable Waits waits,
      long deadLetters,
      @Nullable Double mergeRatio,
      Totals totals,
      List<Step> steps,
      List<Beat> beats) {}

  /** Whose console it is. */
  record Of(String namespace, String writer) {}

  /** What waits in Redis; rows are estimated from a few owners unless {@code exact}. */
  record Waits(
      long due,
      long ready,
      long claimed,
      long lapsed,
      long rows,
      boolean exact,
      long oldestMillis,
      long stale,
      long closing,
      long healing,
      RedisState redis) {
    static Waits of(Backlog backlog) {
      long due = backlog.sum(Waiting::due);
      long ready = backlog.sum(Waiting::ready);
      return new Waits(
          due,
          ready,
          backlog.sum(Waiting::claimed),
          backlog.sum(Waiting::lapsed),
          backlog.rows(),
          backlog.sum(Waiting::counted) >= due + ready,
          backlog.oldestAgeMillis(),
          backlog.sum(Waiting::stale),
          backlog.sum(Waiting::closing),
          backlog.sum(Waiting::healing),
          backlog.redis());
    }
  }

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
          Pulse.name(timer),
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
    long after = context.queryParamAsClass("after", Long.class).getOrDefault(0L);
    Backlog backlog = writer.backlog().get();
    Processes processes = writer.processes().get();
    double merges = pulse.gauge("gameq.merge.ratio");
    double counted = pulse.gauge("gameq.deadletters");
    long deadLetters = Double.isNaN(counted) ? -1 : Math.round(counted);
    return new Overview(
        writer.problems().get(),
        toDo(backlog, deadLetters),
        held(backlog),
        processes == null ? 0 : processes.writersThere(),
        backlog == null ? null : Waits.of(backlog),
        deadLetters,
        Double.isFinite(merges) ? merges : null,
        totals(),
        pulse.timers().stream()
            .map(Step::of)
            .sorted(Comparator.comparingLong(Step::count).reversed())
            .toList(),
        pulse.after(after));
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
    return new Totals(
        pulse.count("gameq.writer.rows"),
        pulse.flushes(),
        pulse.count("gameq.writer.owners"),
        pulse.count("gameq.writer.givenback"),
        pulse.count("gameq.writer.reaped"),
        pulse.count("gameq.writer.deadletters"),
        pulse.count("gameq.writer.stale"));
  }
}

package io.gameq.lab.compare;

import io.gameq.config.GameQueueConfig;
import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.ContenderType;
import io.gameq.lab.contender.Contenders;
import io.gameq.lab.workload.Range;
import io.gameq.redis.script.ClaimScript;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say who is measured, and how much; a picocli mixin. */
final class CompareOptions {
  private static final int MOST_SECONDS = 86_400;
  private static final int MOST_WARM_UP_SECONDS = 3_600;
  private static final int MOST_TIMES = 100;
  private static final int MOST_PER_SECOND = 1_000_000;
  private static final int MOST_IN_FLIGHT = 10_000;
  private static final int MOST_WORKERS = 64;
  private static final int MOST_MERGE_MILLIS = 600_000;

  /** Shorter than in service, so that a kill costs seconds; for kills alone. */
  static final long KILL_LEASE_MILLIS = 5_000;

  @Option(
      names = "--contenders",
      paramLabel = "NAME",
      split = ",",
      description =
          "Which, in this order, of sync-3, sync-1, seed, gameq (acknowledged by Redis),"
              + " gameq-journaled (by the WAL), raw-redis, plain-client, raw-mysql, forgetful, and"
              + " with the peers' jar redisson, hazelcast, ignite, ehcache (default: all but the"
              + " three limits of the servers, seed, whose queue outgrows it, and forgetful, which"
              + " loses on purpose).")
  private @Nullable List<String> contenders;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "Measurements of each, 0 to 100 (default ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--kills",
      paramLabel = "N",
      defaultValue = "3",
      description =
          "kill -9 of each process of each but the limits, 0 to 100 (default ${DEFAULT-VALUE}).")
  private int kills;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "60",
      description =
          "How long a measurement accepts changes, 1 to 86400 (default ${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      defaultValue = "15",
      description =
          "Seconds of the same load before it, under another seed, 0 to 3600 (default"
              + " ${DEFAULT-VALUE}).")
  private int warmUpSeconds;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "Actions a second of all threads, each due at its time and measured from then, instead of"
              + " as many as they can: what each is like at the same load, and in each tenth of the"
              + " time; 0 to 1000000, 0 for none (default ${DEFAULT-VALUE}).")
  private int perSecond;

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      defaultValue = "64",
      description =
          "Most unacknowledged actions of a thread in the asynchronous group, for contenders with"
              + " such an API, 0 to 10000; 0: closed loop alone (default ${DEFAULT-VALUE}).")
  private int inFlight;

  @Option(
      names = "--workers",
      paramLabel = "N",
      defaultValue = "4",
      description =
          "Threads that write to MySQL, where a contender lets one choose, 1 to 64 (default"
              + " ${DEFAULT-VALUE}).")
  private int workers;

  @Option(
      names = "--merge-window",
      paramLabel = "MS",
      defaultValue = "1000",
      description =
          "How long changes wait for later ones of the same row, of all that have such a window,"
              + " ms, 0 to 600000; those that count in seconds round, to one at least (default"
              + " ${DEFAULT-VALUE}).")
  private int mergeWindowMillis;

  @Option(
      names = "--heap",
      paramLabel = "SIZE",
      defaultValue = "2g",
      description = "Heap of each child process (default ${DEFAULT-VALUE}).")
  private String heap = "2g";

  @Option(
      names = "--note",
      paramLabel = "TEXT",
      description = "Kept in the JSON: what else the machine did, where MySQL's data lies.")
  private @Nullable String note;

  /**
   * Throws ParameterException naming the option and its range, or the contenders that there are.
   */
  void check(Range range) {
    range.check("--rounds", rounds, 0, MOST_TIMES);
    range.check("--kills", kills, 0, MOST_TIMES);
    range.check("--seconds", seconds, 1, MOST_SECONDS);
    range.check("--warm-up", warmUpSeconds, 0, MOST_WARM_UP_SECONDS);
    range.check("--rate", perSecond, 0, MOST_PER_SECOND);
    range.check("--in-flight", inFlight, 0, MOST_IN_FLIGHT);
    range.check("--workers", workers, 1, MOST_WORKERS);
    range.check("--merge-window", mergeWindowMillis, 0, MOST_MERGE_MILLIS);
    for (String name : names()) {
      range.require(Contenders.has(name), Contenders.none(name));
    }
  }

  private List<String> names() {
    return contenders == null ? Contenders.byDefault() : contenders;
  }

  List<ContenderType> contenders() {
    return names().stream().map(Contenders::named).toList();
  }

  int rounds() {
    return rounds;
  }

  int kills() {
    return kills;
  }

  int seconds() {
    return seconds;
  }

  int warmUpSeconds() {
    return warmUpSeconds;
  }

  /** Actions of all threads; 0: as many as they can. */
  int perSecond() {
    return perSecond;
  }

  int inFlight() {
    return inFlight;
  }

  String heap() {
    return heap;
  }

  ContenderSetup.Tuning tuning() {
    return new ContenderSetup.Tuning(
        workers,
        GameQueueConfig.DEFAULT_SLOTS,
        mergeWindowMillis,
        ClaimScript.Bounds.DEFAULT.leaseMillis());
  }

  /** For a result. */
  Map<String, Object> json() {
    Map<String, Object> json = new TreeMap<>();
    json.put("contenders", names());
    json.put("rounds", rounds);
    json.put("kills", kills);
    json.put("seconds", seconds);
    json.put("warmUpSeconds", warmUpSeconds);
    json.put("rate", perSecond);
    json.put("inFlight", inFlight);
    json.put("workers", workers);
    json.put("slots", GameQueueConfig.DEFAULT_SLOTS);
    json.put("mergeWindowMillis", mergeWindowMillis);
    json.put("leaseMillisOfKills", KILL_LEASE_MILLIS);
    json.put("childFlags", ChildFlags.of(heap));
    if (note != null) {
      json.put("note", note);
    }
    return json;
  }
}

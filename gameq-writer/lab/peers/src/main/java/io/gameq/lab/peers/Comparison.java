package io.gameq.lab.peers;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.lab.bench.workload.Model;
import io.gameq.lab.bench.workload.Workload;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Runs contenders one after the other, each in a fresh child process. One thread. */
final class Comparison implements AutoCloseable {
  /** The file in which a child that is killed leaves what was acknowledged. */
  static final String ACKNOWLEDGED = "acknowledged";

  private static final int LEAST_KILL_MILLIS = 3_000;
  private static final int MOST_KILL_MILLIS = 6_000;

  /** Longer than the lease of a writer that was killed, and than it takes to notice. */
  private static final long QUIET_MILLIS = 10_000;

  /** A transaction that the kill cut off is rolled back by then. */
  private static final long HEAP_QUIET_MILLIS = 1_000;

  private static final long MOST_RECOVERY_MILLIS = 600_000;
  private static final long POLL_MILLIS = 250;

  private static final List<String> TABLES =
      List.of(
          PeerTable.NAME, Workload.TABLE, "gameq_owner", "gameq_tombstone", "gameq_dead_letter");

  private final Job.Place place;
  private final String heap;
  private final PrintWriter err;
  private final ComparisonTables tables;
  private final RedisClient redisClient;
  private final StatefulRedisConnection<String, String> redis;
  private final ObjectMapper json = new ObjectMapper();

  Comparison(Job.Place place, String heap, PrintWriter err) {
    this.place = place;
    this.heap = heap;
    this.err = err;
    this.tables = new ComparisonTables(place);
    this.redisClient = RedisClient.create(place.redisUri());
    this.redis = redisClient.connect();
  }

  /**
   * One measurement.
   *
   * @param inFlight 1: closed loop
   * @param check of the whole table afterwards
   */
  record Round(
      String contender, int inFlight, int round, Measurement measured, Model.Result check) {}

  /**
   * One kill.
   *
   * @param afterMillis from the first action
   * @param acknowledged actions of each thread
   * @param recoverySeconds until MySQL stopped changing
   * @param settled false when it still did: what is missing may be late rather than lost
   */
  record Kill(
      String contender,
      int afterMillis,
      long[] acknowledged,
      double recoverySeconds,
      boolean settled,
      Model.Result check) {}

  private record Quiet(double seconds, boolean settled) {}

  Round measure(Job job, int round) throws IOException, SQLException, InterruptedException {
    empty();
    Measurement measured;
    try (ChildProcess child = new ChildProcess(job, heap)) {
      String line = child.line();
      while (line.equals(Child.RUNNING)) {
        line = child.line();
      }
      measured = json.readValue(line, Measurement.class);
    }
    long[] all = new long[job.shape().threads()];
    Arrays.fill(all, job.actionsPerThread());
    Model model = new Model(new Workload(job.shape()), all);
    Model.Result check = tables.check(Contenders.named(job.contender()).table(), model);
    Round result = new Round(job.contender(), job.inFlight(), round, measured, check);
    err.printf(
        "round %d  %-10s %-11s accepted %,9.0f/s  p50 %,7.0f us  p99 %,8.0f us  end to end %,9.0f/s"
            + "  rows written %,d  %s%n",
        round,
        job.contender(),
        job.inFlight() == 1 ? "closed loop" : "pressure",
        measured.acceptedPerSecond(),
        measured.latency().p50(),
        measured.latency().p99(),
        measured.endToEndPerSecond(),
        measured.rowsWritten(),
        describe(check));
    return result;
  }

  static String describe(Model.Result check) {
    return check.isFlawless()
        ? "MySQL holds everything"
        : "LOST %,d changes, %,d rows older than they should be, %,d torn actions, %,d damaged rows"
            .formatted(
                check.lostChanges(), check.lostRows(), check.tornActions(), check.damagedRows());
  }

  Kill kill(Job job, Random random) throws IOException, SQLException, InterruptedException {
    empty();
    Contenders contender = Contenders.named(job.contender());
    int afterMillis = random.nextInt(LEAST_KILL_MILLIS, MOST_KILL_MILLIS);
    Path file = Path.of(place.directory(), ACKNOWLEDGED);
    Files.deleteIfExists(file);
    try (ChildProcess child = new ChildProcess(job, heap)) {
      child.line();
      TimeUnit.MILLISECONDS.sleep(afterMillis);
      child.kill();
    }
    long[] acknowledged = AcknowledgedFile.open(file, job.shape().threads()).all();
    Quiet quiet = recover(job, contender);
    Model.Result check =
        tables.check(contender.table(), new Model(new Workload(job.shape()), acknowledged));
    err.printf(
        "kill -9  %-10s after %,5d ms, %,9d actions acknowledged, MySQL %s after %.1f s: %s%n",
        job.contender(),
        afterMillis,
        Arrays.stream(acknowledged).sum(),
        quiet.settled() ? "quiet" : "STILL CHANGING",
        quiet.seconds(),
        describe(check));
    return new Kill(
        job.contender(), afterMillis, acknowledged, quiet.seconds(), quiet.settled(), check);
  }

  /** What holds its changes outside of the killed process goes on in another one. */
  private Quiet recover(Job killed, Contenders contender)
      throws IOException, SQLException, InterruptedException {
    if (contender.holds() != Contenders.Holds.IN_REDIS) {
      return awaitQuiet(contender.table(), HEAP_QUIET_MILLIS);
    }
    Job job =
        new Job(Job.Mode.RECOVER, killed.contender(), 1, killed.shape(), killed.settings(), place);
    try (ChildProcess child = new ChildProcess(job, heap)) {
      child.line();
      return awaitQuiet(contender.table(), QUIET_MILLIS);
    }
  }

  /** Until the last change that was seen. */
  private Quiet awaitQuiet(String table, long quietMillis)
      throws SQLException, InterruptedException {
    long start = System.nanoTime();
    long changedAt = start;
    ComparisonTables.Sum last = tables.sum(table);
    while (millisSince(changedAt) < quietMillis && millisSince(start) < MOST_RECOVERY_MILLIS) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      ComparisonTables.Sum now = tables.sum(table);
      if (!now.equals(last)) {
        last = now;
        changedAt = System.nanoTime();
      }
    }
    return new Quiet((changedAt - start) / 1e9, millisSince(changedAt) >= quietMillis);
  }

  private static long millisSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }

  /** The next child finds nothing of the one before. */
  private void empty() throws SQLException {
    tables.truncate(TABLES);
    deleteKeys();
  }

  private void deleteKeys() {
    RedisCommands<String, String> commands = redis.sync();
    ScanCursor cursor = ScanCursor.INITIAL;
    do {
      KeyScanCursor<String> found =
          commands.scan(cursor, ScanArgs.Builder.matches("*" + place.name() + "*").limit(1_000));
      List<String> keys = new ArrayList<>(found.getKeys());
      if (!keys.isEmpty()) {
        commands.unlink(keys.toArray(String[]::new));
      }
      cursor = found;
    } while (!cursor.isFinished());
  }

  /** Leaves both servers as they were found. */
  void removeTraces(Collection<String> allTables) throws SQLException {
    deleteKeys();
    for (String table : allTables) {
      tables.run("DROP TABLE IF EXISTS " + table);
    }
  }

  ComparisonTables tables() {
    return tables;
  }

  RedisCommands<String, String> redis() {
    return redis.sync();
  }

  @Override
  public void close() {
    redis.close();
    redisClient.shutdown(0, 1, TimeUnit.SECONDS);
    tables.close();
  }
}

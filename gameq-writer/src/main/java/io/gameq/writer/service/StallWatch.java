package io.gameq.writer.service;

import io.gameq.GameQueueException;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.terminal.Shown;
import io.gameq.writer.mysql.WriterRequirements;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that nothing is written while rows wait, though MySQL answers: a disk that is full, a
 * global read lock, a transaction of somebody else's that holds what all need. Thread-safe.
 */
final class StallWatch {
  private static final Logger LOG = LoggerFactory.getLogger(StallWatch.class);

  private static final Duration EVERY = Duration.ofSeconds(2);

  /** Flushes take tenths of a second; waits for locks end before this. */
  static final long STALLED_NANOS = TimeUnit.SECONDS.toNanos(20);

  private final LongSupplier flushes;
  private final BooleanSupplier waits;
  private final MySql mysql;
  private final LongSupplier nanoTime;
  private long seenFlushes = -1;
  private volatile long goneOnNanos;
  private volatile String problem = "";

  /**
   * One that has seen nothing yet.
   *
   * @param flushes that were committed
   * @param waits whether there is something to write that MySQL ought to take
   * @param mysql asked what it is doing
   */
  StallWatch(LongSupplier flushes, BooleanSupplier waits, MySql mysql, LongSupplier nanoTime) {
    this.flushes = flushes;
    this.waits = waits;
    this.mysql = mysql;
    this.nanoTime = nanoTime;
    this.goneOnNanos = nanoTime.getAsLong();
  }

  /** What looks. */
  Agent duty() {
    return Duty.every(EVERY, "look whether anything is written", this::look);
  }

  void look() {
    long now = flushes.getAsLong();
    if (now != seenFlushes || !waits.getAsBoolean()) {
      seenFlushes = now;
      goneOnNanos = nanoTime.getAsLong();
      if (!problem.isEmpty()) {
        LOG.info("rows are written again");
      }
      problem = "";
      return;
    }
    long nanos = nanoTime.getAsLong() - goneOnNanos;
    if (nanos >= STALLED_NANOS) {
      String before = problem;
      problem =
          "nothing is written for %s s though MySQL answers and rows wait: %s"
              .formatted(TimeUnit.NANOSECONDS.toSeconds(nanos), cause());
      if (before.isEmpty()) {
        LOG.warn("{}", problem);
      }
    }
  }

  private String cause() {
    try {
      List<String> doing = WriterRequirements.doing(mysql);
      return doing.isEmpty()
          ? "MySQL shows nothing that this user waits for"
          : "MySQL shows for this user: " + Shown.text(String.join("; ", doing));
    } catch (GameQueueException e) {
      return "MySQL does not say why";
    }
  }

  /** Why nothing is written, in one line; empty while rows are written, or none wait. */
  String problem() {
    return problem;
  }

  /** For how long nothing has been written though rows wait, s; 0 while that is not told yet. */
  double seconds() {
    return problem.isEmpty() ? 0 : (nanoTime.getAsLong() - goneOnNanos) / 1e9;
  }
}

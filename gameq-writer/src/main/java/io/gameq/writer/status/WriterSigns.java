package io.gameq.writer.status;

import io.gameq.agent.AgentRunner;
import io.gameq.agent.Duty;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.sign.ProcessIdentity;
import io.gameq.sign.SignFields;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Tells Redis how this writer is, on a thread of its own, so that nothing else holds it up.
 * Thread-safe; what it said last is still there when the process was killed.
 */
public final class WriterSigns implements AutoCloseable {
  /** As often as nodes. */
  private static final Duration EVERY = Duration.ofSeconds(3);

  /** A writer that stops waits for more important things. */
  private static final long END_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ControlConnection redis;
  private final ProcessSigns signs;
  private final Supplier<WriterSign> sign;

  /** Two writers of one name are two processes. */
  private final String process = "%08x".formatted(ThreadLocalRandom.current().nextInt());

  private final AgentRunner runner = new AgentRunner("gameq-signs");
  private final AtomicLong forgotten = new AtomicLong();
  private boolean hasSaid; // on that thread

  /** With a connection that it closes. */
  public WriterSigns(ControlConnection redis, String namespace, Supplier<WriterSign> sign) {
    this.redis = redis;
    this.signs = new ProcessSigns(namespace);
    this.sign = sign;
  }

  /** What this start of the writer is called in the list of processes. */
  public String process() {
    return process;
  }

  /** How often Redis did not know any more what this writer had said: it was emptied. */
  public long forgotten() {
    return forgotten.get();
  }

  /** Tells it now and every 3 s; who ends in order takes it back. */
  public void start() {
    runner.start(
        Duty.every(Duration.ZERO, EVERY::toNanos, "tell Redis how this writer is", this::tell)
            .endingWith(this::forget));
  }

  private void tell() {
    Map<String, String> fields = SignFields.of(sign.get());
    boolean known = redis.call(of -> signs.tell(of, process, ProcessSigns.WRITER, fields));
    if (!known && hasSaid) {
      forgotten.incrementAndGet();
    }
    hasSaid = true;
  }

  private void forget() {
    boolean unused = redis.call(of -> signs.forget(of, process));
  }

  /** Takes back what it said, if Redis answers within a second. */
  @Override
  public void close() {
    runner.stop();
    try {
      runner.join(System.nanoTime() + END_NANOS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    runner.closeNow();
    redis.close();
  }

  /**
   * What a writer says of itself. Immutable.
   *
   * @param phase what it is doing: {@link #RUNNING}, {@link #QUIET}, {@link #PAUSED}, {@link
   *     #STOPPING}
   * @param protocol in which it writes
   * @param outage whether MySQL is away
   * @param parked tables that take no rows now, their names, separated by commas
   */
  public record WriterSign(
      ProcessIdentity process,
      String phase,
      long protocol,
      boolean outage,
      String parked,
      WorkCounters work) {
    public static final String RUNNING = "running";

    /** An operator paused this writer: it claims nothing, others go on. */
    public static final String QUIET = "quiet";

    /** An operator paused everything: no writer claims anything. */
    public static final String PAUSED = "paused";

    /** It finishes what it has claimed, and claims nothing else. */
    public static final String STOPPING = "stopping";

    /**
     * What it does.
     *
     * @param workers its threads
     * @param claims owners that it has claimed and not flushed yet
     * @param flushes transactions that were committed since it started
     * @param rows written since it started, deletes included
     * @param rowsPerSecond in the seconds before
     * @param flushedMillis when the last flush was committed, ms since 1970; 0 for never
     * @param deadLetters rows that it set aside since it started
     * @param busiest owners of which it wrote most rows in the last minute: a line "rows owner"
     *     each
     */
    public record WorkCounters(
        long workers,
        long claims,
        long flushes,
        long rows,
        double rowsPerSecond,
        long flushedMillis,
        long deadLetters,
        String busiest) {}
  }

  /** Rows a second between two looks. Thread-safe. */
  public static final class RowRate {
    private long rowsBefore;
    private long nanosBefore = System.nanoTime();

    /** Since the look before, or since this was made. */
    public synchronized double perSecond(long rowsNow) {
      long now = System.nanoTime();
      double seconds = (double) (now - nanosBefore) / TimeUnit.SECONDS.toNanos(1);
      double rate = seconds <= 0 ? 0 : (rowsNow - rowsBefore) / seconds;
      rowsBefore = rowsNow;
      nanosBefore = now;
      return rate;
    }
  }
}

package io.gameq.writer.service;

import io.gameq.GameQueueException;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.AgentRunner.DaemonThreads;
import io.gameq.agent.Duty;
import io.gameq.agent.RepeatedWarnings;
import io.gameq.backlog.SharedBacklog;
import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.backlog.SharedSnapshot;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.LayoutTable;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.NodeTable;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.mysql.tables.TermTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisServerCheck;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript;
import io.gameq.redis.script.SlotBacklog;
import io.gameq.rows.CurrentCatalog.Catalog;
import io.gameq.rows.RowCodec;
import io.gameq.sign.ProcessIdentity;
import io.gameq.terminal.Shown;
import io.gameq.writer.flush.FlushBlockers;
import io.gameq.writer.flush.FlushPace;
import io.gameq.writer.flush.RowDecoder;
import io.gameq.writer.flush.SlotSchedule;
import io.gameq.writer.flush.SlotTurn;
import io.gameq.writer.flush.SlotWatch;
import io.gameq.writer.flush.SlotWatch.TermWatch;
import io.gameq.writer.flush.SlowLane;
import io.gameq.writer.flush.SlowLane.LeaseRenewal;
import io.gameq.writer.flush.Worker;
import io.gameq.writer.flush.Worker.SlowWorker;
import io.gameq.writer.flush.WriterOptions;
import io.gameq.writer.flush.WriterStats;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.PauseTable;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.mysql.PauseTable.WriterPause;
import io.gameq.writer.pause.PauseWatch;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.pause.ResumedTables;
import io.gameq.writer.status.BacklogWatch;
import io.gameq.writer.status.ProcessWatch;
import io.gameq.writer.status.Processes;
import io.gameq.writer.status.WriterSigns;
import io.gameq.writer.status.WriterSigns.RowRate;
import io.gameq.writer.status.WriterSigns.WriterSign;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running pool of workers over all slots of a namespace. Thread-safe. */
public final class WriterService implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WriterService.class);

  private static final long COMPLAIN_EVERY_SECONDS = 10;

  private static final Duration SIGN_EVERY = Duration.ofSeconds(3);

  /** Below the 30 s after which Kubernetes kills. */
  private static final int DRAIN_SECONDS = 20;

  /** Of the time of a stop, for giving back and looking; a script each, if Redis answers. */
  private static final long MOST_RESERVE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final int RESERVE_SHARE = 4;

  /** Of MySQL, which is asked every second. */
  private static final Duration MOST_SILENCE = Duration.ofSeconds(5);

  private final WriterOptions options;
  private final WriterStats stats;
  private final FlushBlockers blockers;
  private final BacklogWatch backlog;
  private final ControlConnection backlogRedis;
  private final TermWatch watch;
  private final PauseWatch pauses;
  private final RowDecoder decoder;
  private final Slots slots;
  private final ResumedTables resumed;
  private final LeaseRenewal leases;
  private final SlotWatch slotWatch;
  private final SlowLane lane;
  private final WriterUpkeep upkeep;
  private final ProcessIdentity process;
  private final RowRate rate = new RowRate();
  private final ProcessWatch processes;
  private final WriterSigns signs;
  private final StallWatch stall;
  private final AgentRunner renewing = new AgentRunner("gameq-leases");
  private final AgentRunner looking = new AgentRunner("gameq-slots");
  private final AgentRunner watching = new AgentRunner("gameq-term");
  private final AgentRunner stalling = new AgentRunner("gameq-stall");
  private final AgentRunner measuring = new AgentRunner("gameq-backlog");
  private final List<AgentRunner> workers = new ArrayList<>();
  private final List<AgentRunner> slowWorkers = new ArrayList<>();
  private @Nullable StopReport remains;
  private volatile boolean stopping;

  /**
   * Checks the servers and starts the workers.
   *
   * @throws io.gameq.GameQueueException when a server is away or unfit, or namespace and slots are
   *     not the database's
   */
  public WriterService(WriterOptions options, RedisConnector redis, MySql mysql) {
    this(options, redis, mysql, new SimpleMeterRegistry());
  }

  /**
   * The same.
   *
   * @param meters shows what it does and what waits
   */
  public WriterService(
      WriterOptions options, RedisConnector redis, MySql mysql, MeterRegistry meters) {
    this.options = options;
    stats = new WriterStats(meters);
    MySqlServerCheck.of(mysql).requireUsable();
    Settings.agree(mysql, options.namespace(), options.slots());
    Catalog unused = CatalogReader.read(mysql).requireManaged();
    PrimaryConnector primary = new PrimaryConnector(redis, new TermTable(mysql, options.slots()));
    try (ControlConnection probe = new ControlConnection(primary)) {
      probe.get();
    }
    pauses = new PauseWatch(() -> PauseTable.all(mysql), options.name());
    blockers = new FlushBlockers(mysql::answers, pauses);
    decoder =
        new RowDecoder(
            () -> CatalogReader.read(mysql),
            new RowCodec(new LayoutTable(mysql), Clock.systemUTC()),
            blockers);
    FlushTransaction flush =
        new FlushTransaction(mysql, GuardedWrites.on(mysql), options.patience(), stats::sqlError);
    watch = new TermWatch(primary);
    slots = new Slots(options.namespace(), options.slots());
    leases =
        new LeaseRenewal(
            new ControlConnection(primary), watch, slots, options.bounds().leaseMillis());
    FlushPace pace =
        new FlushPace(
            options.bounds(), options.workers(), options.rowsPerSecond(), System::nanoTime);
    pace.bindTo(meters);
    SlotSchedule schedule =
        new SlotSchedule(
            slots.count(),
            pace,
            slot -> watch.refusal() != null || pauses.isPaused(slot),
            System::nanoTime);
    SlotTurn.TurnContext shared =
        new SlotTurn.TurnContext(
            options,
            slots,
            new OwnerTable(mysql),
            new OwnerReader(mysql),
            decoder,
            flush,
            blockers,
            pace,
            stats,
            new RepeatedWarnings(COMPLAIN_EVERY_SECONDS));
    slotWatch =
        new SlotWatch(
            new ControlConnection(primary),
            watch,
            slots,
            schedule,
            blockers.mysql(),
            options.bounds().leaseMillis(),
            this::lookTurn,
            new RedisClock());
    backlogRedis = new ControlConnection(primary);
    SharedSnapshot<Backlog> shown =
        SharedBacklog.whole(options.namespace(), slots.count(), this::lookWhatWaits);
    backlog =
        new BacklogWatch(
            () -> backlogRedis.call(watch.connected(backlogRedis).redis(), shown::latest),
            () -> DeadLetters.count(mysql),
            new TopicMeters(meters)::show);
    resumed =
        new ResumedTables(
            new ControlConnection(primary), of -> watch.connected(of).redis(), slots, pauses);
    process = ProcessIdentity.here(options.name());
    SharedSnapshot<Processes> fleet = Processes.shared(options.namespace());
    processes =
        new ProcessWatch(
            () -> {
              SharedSnapshot.SeenSnapshot<Processes> known = backlogRedis.call(fleet::latest);
              return known == null ? null : withStarted(known.what(), mysql);
            });
    stall = new StallWatch(stats::flushes, this::isToWrite, mysql, System::nanoTime);
    signs = new WriterSigns(new ControlConnection(redis), options.namespace(), this::sign);
    bindTo(meters);
    stalling.start(stall.duty());
    watching.start(watch.duty(), pauses.duty()); // starts a thread: what may fail has not
    renewing.start(leases.duty());
    looking.start(slotWatch.duty());
    Agent sign =
        Duty.every(
            SIGN_EVERY,
            "say that the Redis that counts lives",
            () -> primary.giveSign(() -> backlogRedis.call(RedisServerCheck::check)));
    measuring.start(backlog.duty(), processes.duty(), resumed.duty(), sign);
    lane = new SlowLane(leases);
    for (int i = 1; i <= SlowLane.THREADS; i++) {
      AgentRunner worker = new AgentRunner(options.name() + "-slow-lane-" + i);
      slowWorkers.add(worker);
      worker.start(new SlowWorker(shared, watch, lane, new ControlConnection(primary)));
    }
    for (int i = 1; i <= options.workers(); i++) {
      AgentRunner worker = new AgentRunner(options.name() + "-worker-" + i);
      workers.add(worker);
      worker.start(
          new Worker(shared, schedule, watch, leases, lane, new ControlConnection(primary)));
    }
    upkeep = new WriterUpkeep(new ControlConnection(redis), slots, mysql, options.tombstonesKept());
    signs.start();
    LOG.info(
        "writer {} runs with {} workers over {} slots of namespace {}",
        options.name(),
        options.workers(),
        options.slots(),
        options.namespace());
  }

  /** Without the nodes that MySQL alone knows while it is away, or denies the right to see them. */
  private static Processes withStarted(Processes known, MySql mysql) {
    try {
      return known.with(new NodeTable(mysql).all());
    } catch (GameQueueException e) {
      LOG.debug("cannot ask MySQL which nodes were started", e);
      return known;
    }
  }

  private SlotWatch.WriterRank lookTurn() {
    Processes seen = processes.latest();
    List<String> claiming = seen == null ? List.of() : seen.claiming();
    int rank = Math.max(0, claiming.indexOf(signs.process()));
    return new SlotWatch.WriterRank(rank, Math.max(1, claiming.size()));
  }

  private Backlog lookWhatWaits() {
    return backlogRedis.call(watch.connected(backlogRedis).redis(), this::lookWhatWaits);
  }

  private Backlog lookWhatWaits(RedisConnection redis) {
    return Backlog.of(redis, slots, decoder.heldTables(), parkedAnywhere());
  }

  /** Tables that take no rows, or not all, by any writer: one does not meet the rows of all. */
  private Set<String> parkedAnywhere() {
    Set<String> all = new HashSet<>(blockers.tables().reasons().keySet());
    Processes seen = processes.latest();
    if (seen != null) {
      all.addAll(seen.parked().keySet());
    }
    return all;
  }

  private void bindTo(MeterRegistry meters) {
    backlog.bindTo(meters, options.slots());
    for (Scope scope : Scope.values()) { // an alarm about old rows can tell why they wait
      Gauge.builder(
              "gameq.pauses",
              pauses,
              of -> of.get().all().stream().filter(one -> one.scope() == scope).count())
          .description("What operators paused, by scope")
          .tag("scope", Shown.lower(scope))
          .register(meters);
    }
    for (int slot = 0; slot < options.slots(); slot++) {
      int number = slot;
      Gauge.builder("gameq.slot.paused", pauses, of -> of.get().ofSlot(number) == null ? 0 : 1)
          .description("1 where nothing is claimed, since an operator paused the slot or all")
          .tag("slot", Integer.toString(slot))
          .register(meters);
    }
    processes.bindTo(meters);
    Gauge.builder("gameq.writer.outage", blockers.mysql(), of -> of.isClosed() ? 1 : 0)
        .description("1 while MySQL is away and nothing is claimed")
        .register(meters);
    Gauge.builder("gameq.writer.away", blockers.mysql(), FlushBlockers.OutageBreaker::awaySeconds)
        .description("For how long MySQL has been away")
        .baseUnit("seconds")
        .register(meters);
    Gauge.builder("gameq.writer.stalled", stall, StallWatch::seconds)
        .description("For how long nothing was written though MySQL answers and rows wait")
        .baseUnit("seconds")
        .register(meters);
    Gauge.builder(
            "gameq.writer.backoff", blockers.mysql(), FlushBlockers.OutageBreaker::backoffSeconds)
        .description("How long until MySQL is asked again")
        .baseUnit("seconds")
        .register(meters);
    Gauge.builder("gameq.writer.claims", leases, of -> of.claims().size())
        .description("Owners that are claimed and not flushed yet")
        .register(meters);
    Gauge.builder("gameq.term", watch, TermWatch::number)
        .description("The number of the Redis that counts: it rises with each replacement")
        .register(meters);
    FunctionCounter.builder("gameq.redis.emptied", signs, WriterSigns::forgotten)
        .description("Times that Redis had forgotten what this writer had told it")
        .register(meters);
    Gauge.builder("gameq.writer.parked", blockers.tables(), of -> of.reasons().size())
        .description("Tables that take no rows now")
        .register(meters);
  }

  /** Whether this writer has something to write, and nothing is known to keep it from it. */
  private boolean isToWrite() {
    Backlog seen = backlog.latest();
    return !blockers.mysql().isClosed()
        && phase().equals(WriterSign.RUNNING)
        && (!leases.claims().isEmpty()
            || (seen != null
                && TimeUnit.MILLISECONDS.toNanos(seen.oldestPassingAgeMillis())
                    > StallWatch.STALLED_NANOS));
  }

  /** Whether some worker runs. */
  public boolean isAlive() {
    return workers.stream().anyMatch(AgentRunner::isAlive);
  }

  /**
   * Why it claims nothing more and is to be closed: its game is at a protocol that it does not
   * speak.
   */
  public @Nullable GameQueueException refusal() {
    return watch.refusal();
  }

  /** Why rows are not written now, each in one line; empty when they are. */
  public List<String> problems() {
    List<String> problems = new ArrayList<>();
    WriterPause pause = pauses.ofThisWriter();
    if (pause != null) {
      problems.add(Pauses.line(pause) + " (what is claimed is finished, nothing else is)");
    }
    if (blockers.mysql().isClosed() || watch.sinceAnswer().compareTo(MOST_SILENCE) > 0) {
      problems.add("MySQL is away: rows wait in Redis");
    }
    if (!stall.problem().isEmpty()) {
      problems.add(stall.problem());
    }
    if (!backlog.isFresh()) {
      problems.add("Redis is away: nothing can be claimed");
    }
    Backlog latest = backlog.latest();
    if (latest != null && latest.redis().mayEvict()) {
      problems.add(
          "Redis has maxmemory-policy %s: it may drop rows".formatted(latest.redis().policy()));
    }
    return problems;
  }

  /** Whether an operator wants it to claim nothing. */
  boolean isPaused() {
    return pauses.ofThisWriter() != null;
  }

  /** What operators paused, as this writer knows it. */
  public Pauses pauses() {
    return pauses.get();
  }

  /** The latest look at what waits; null before the first. */
  public @Nullable Backlog backlog() {
    return backlog.latest();
  }

  /** The latest look at nodes and writers; null before the first. */
  public @Nullable Processes processes() {
    return processes.latest();
  }

  /** Tables that take no rows now, and why. */
  public Map<String, String> parkedTables() {
    return blockers.tables().reasons();
  }

  public WriterStats stats() {
    return stats;
  }

  private WriterSign sign() {
    return new WriterSign(
        process,
        phase(),
        watch.protocol().version(),
        blockers.mysql().isClosed(),
        String.join(", ", new TreeSet<>(blockers.tables().reasons().keySet())),
        new WriterSign.WorkCounters(
            options.workers(),
            leases.claims().size(),
            stats.flushes(),
            stats.rows(),
            rate.perSecond(stats.rows()),
            stats.flushedMillis(),
            stats.deadLetters(),
            stats.busyOwners().lastMinute()));
  }

  private String phase() {
    WriterPause pause = pauses.ofThisWriter();
    if (stopping) {
      return WriterSign.STOPPING;
    }
    return pause == null
        ? WriterSign.RUNNING
        : pause.scope() == Scope.WRITER ? WriterSign.QUIET : WriterSign.PAUSED;
  }

  /** Stops as {@link #stop} does, within {@value #DRAIN_SECONDS} s, if it has not. */
  @Override
  public void close() {
    StopReport unused = stop(Duration.ofSeconds(DRAIN_SECONDS));
  }

  /**
   * Claims nothing more and finishes what is claimed. What is not finished in time is given back,
   * where Redis answers, so that others have it at once: it counts as no attempt, and flushing it
   * twice changes nothing. Returns what remains, which the log says as well; the same again when it
   * was stopped before.
   *
   * @param within the most that all of it takes; a part of it is for giving back and looking
   */
  public synchronized StopReport stop(Duration within) {
    if (remains != null) {
      return remains;
    }
    long startNanos = System.nanoTime();
    long deadlineNanos = startNanos + within.toNanos();
    stopping = true;
    workers.forEach(AgentRunner::stop);
    looking.closeNow();
    measuring.closeNow();
    upkeep.close();
    boolean isFinished = false;
    try {
      isFinished =
          finish(deadlineNanos - Math.min(MOST_RESERVE_NANOS, within.toNanos() / RESERVE_SHARE));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Integer givenBack =
        isFinished ? Integer.valueOf(0) : inTime("give claims back", deadlineNanos, this::giveBack);
    Backlog left = inTime("look what waits", deadlineNanos, this::lookWhatWaits);
    StopReport now =
        new StopReport(
            Duration.ofNanos(System.nanoTime() - startNanos),
            isFinished,
            givenBack == null ? 0 : givenBack,
            givenBack != null,
            left);
    remains = now;
    renewing.closeNow();
    watching.closeNow();
    stalling.closeNow();
    slotWatch.close();
    leases.close();
    resumed.close();
    backlogRedis.close();
    signs.close();
    LOG.info("writer {} stopped: {}", options.name(), stats);
    now.log(options.name());
    return now;
  }

  /** Waits for those who have claims; true when all are finished. */
  private boolean finish(long untilNanos) throws InterruptedException {
    try {
      for (AgentRunner worker : workers) {
        worker.join(untilNanos);
      }
    } finally {
      lane.stop(); // after the workers, who fill it
      slowWorkers.forEach(AgentRunner::stop);
    }
    for (AgentRunner worker : slowWorkers) {
      worker.join(untilNanos);
    }
    measuring.join(untilNanos); // whose connection is used for what follows
    return workers.stream().noneMatch(AgentRunner::isAlive) && leases.claims().isEmpty();
  }

  /** Claims that were finished meanwhile are not ours any more. */
  private int giveBack() {
    lane.clear();
    renewing.closeNow();
    return backlogRedis.call(
        watch.connected(backlogRedis).redis(),
        of -> ClaimScript.nack(of, slots, 0, false, leases.claims()));
  }

  /** On another thread, since Redis may not answer; null when it does not. */
  private static <T> @Nullable T inTime(String what, long deadlineNanos, Supplier<T> call) {
    FutureTask<T> result = new FutureTask<>(call::get);
    DaemonThreads.named("gameq-drain", result).start();
    try {
      long left = Math.max(1, Math.min(MOST_RESERVE_NANOS, deadlineNanos - System.nanoTime()));
      return result.get(left, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      LOG.warn("cannot {}: {}", what, String.valueOf(e.getCause()));
    } catch (TimeoutException e) {
      LOG.warn("cannot {}: Redis does not answer in time", what);
    }
    return null;
  }

  /**
   * What a writer left when it stopped. Immutable.
   *
   * @param took how long it took
   * @param isFinished whether all that it had claimed was finished
   * @param givenBack claims that were not, and went back: others have them at once
   * @param areBack whether Redis took them; else others have them when their leases run out
   * @param backlog what waits in Redis; null when it did not answer in time
   */
  public record StopReport(
      Duration took,
      boolean isFinished,
      int givenBack,
      boolean areBack,
      @Nullable Backlog backlog) {

    void log(String writer) {
      if (!isFinished) {
        LOG.warn(
            "writer {} did not finish in {} ms what it had claimed: {}",
            writer,
            took.toMillis(),
            areBack
                ? Shown.count(givenBack, "owner") + " given back unwritten, for others to claim"
                : "Redis did not answer, others have it when the leases run out");
      }
      if (backlog == null) {
        LOG.warn("what waits in Redis is not known: it did not answer in time");
      } else if (backlog.owners() == 0) {
        LOG.info("nothing waits in Redis");
      } else {
        LOG.info(
            "in Redis wait {}, {} of them claimed by other writers, and about {}; the oldest for {}"
                + " s: other writers go on with them, or the next start",
            Shown.count(backlog.owners(), "owner"),
            backlog.sum(SlotBacklog::claimed),
            Shown.count(backlog.rows(), "row"),
            backlog.oldestAgeMillis() / 1_000);
      }
    }
  }
}

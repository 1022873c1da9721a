package io.gameq.writer.service;

import io.gameq.agent.AgentRunner;
import io.gameq.log.RepeatedWarnings;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.mysql.flush.GuardedWrites;
import io.gameq.mysql.schema.CatalogReader;
import io.gameq.mysql.schema.LayoutTable;
import io.gameq.mysql.schema.Settings;
import io.gameq.mysql.tables.OwnerReader;
import io.gameq.mysql.tables.OwnerTable;
import io.gameq.mysql.tables.TermTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.rows.Catalog;
import io.gameq.rows.RowCodec;
import io.gameq.writer.backlog.Backlog;
import io.gameq.writer.backlog.BacklogWatch;
import io.gameq.writer.flush.LeaseRenewal;
import io.gameq.writer.flush.SlotSchedule;
import io.gameq.writer.flush.SlotWatch;
import io.gameq.writer.flush.SlowLane;
import io.gameq.writer.flush.StepTimes;
import io.gameq.writer.flush.TermWatch;
import io.gameq.writer.flush.Worker;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.turn.HeldUpOwners;
import io.gameq.writer.turn.OutageGate;
import io.gameq.writer.turn.ParkedTables;
import io.gameq.writer.turn.RowDecoder;
import io.gameq.writer.turn.TurnContext;
import io.gameq.writer.turn.TurnReports;
import io.gameq.writer.turn.WriterOptions;
import io.gameq.writer.turn.WriterStats;
import io.gameq.writer.upkeep.TombstonePurge;
import io.gameq.writer.upkeep.WriterUpkeep;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running pool of workers over all slots of a namespace. Thread-safe. */
public final class WriterService implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WriterService.class);

  private static final long COMPLAIN_EVERY_SECONDS = 10;

  /** Of MySQL, which is asked every second. */
  private static final Duration MOST_SILENCE = Duration.ofSeconds(5);

  private final WriterOptions options;
  private final WriterStats stats;
  private final TurnContext.HoldUps holdUps;
  private final BacklogWatch backlog;
  private final ControlConnection backlogRedis;
  private final TermWatch watch;
  private final LeaseRenewal leases;
  private final SlotWatch slotWatch;
  private final SlowLane lane;
  private final WriterUpkeep upkeep;
  private final AgentRunner renewing = new AgentRunner("gameq-leases");
  private final AgentRunner looking = new AgentRunner("gameq-slots");
  private final AgentRunner watching = new AgentRunner("gameq-term");
  private final AgentRunner measuring = new AgentRunner("gameq-backlog");
  private final List<AgentRunner> workers = new ArrayList<>();

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
    PrimaryConnector primary = new PrimaryConnector(redis, new TermTable(mysql));
    try (ControlConnection probe = new ControlConnection(primary)) {
      probe.get();
    }
    OwnerTable owners = new OwnerTable(mysql);
    ParkedTables parked = new ParkedTables();
    RowDecoder decoder =
        new RowDecoder(
            () -> CatalogReader.read(mysql),
            new RowCodec(new LayoutTable(mysql), Clock.systemUTC()),
            parked);
    FlushTransaction flush =
        new FlushTransaction(mysql, GuardedWrites.on(mysql), options.patience());
    watch = new TermWatch(primary);
    Slots slots = new Slots(options.namespace(), options.slots());
    leases =
        new LeaseRenewal(
            new ControlConnection(primary), watch, slots, options.bounds().leaseMillis());
    holdUps = new TurnContext.HoldUps(new OutageGate(mysql::answers), parked, new HeldUpOwners());
    TurnContext context =
        new TurnContext(
            options,
            new TurnContext.Tables(owners, new OwnerReader(mysql), decoder, flush),
            holdUps,
            new TurnReports(new RepeatedWarnings(COMPLAIN_EVERY_SECONDS), stats));
    SlotSchedule schedule =
        new SlotSchedule(slots.count(), options.bounds().owners(), options.bounds().rows());
    Worker.Shared shared =
        new Worker.Shared(slots, schedule, watch, leases, new StepTimes(meters), context);
    slotWatch =
        new SlotWatch(
            new ControlConnection(primary), watch, slots, schedule, context.holdUps().mysql());
    backlogRedis = new ControlConnection(primary);
    backlog =
        new BacklogWatch(
            () ->
                backlogRedis.call(
                    watch.connected(backlogRedis).redis(), of -> Backlog.of(of, slots)),
            () -> DeadLetters.count(mysql));
    bindTo(meters);
    watching.start(watch.duty()); // starts a thread: what may fail has not
    renewing.start(leases.duty());
    looking.start(slotWatch.duty());
    measuring.start(backlog.duty());
    lane = new SlowLane(shared, () -> new ControlConnection(primary));
    for (int i = 1; i <= options.workers(); i++) {
      AgentRunner worker = new AgentRunner(options.name() + "-worker-" + i);
      workers.add(worker);
      worker.start(new Worker(shared, lane, new ControlConnection(primary)));
    }
    upkeep =
        new WriterUpkeep(
            new ControlConnection(redis),
            options.namespace(),
            SlotKeys.all(options.namespace(), options.slots()),
            new TombstonePurge(mysql, options.tombstonesKept()));
    upkeep.start();
    LOG.info(
        "writer {} runs with {} workers over {} slots of namespace {}",
        options.name(),
        options.workers(),
        options.slots(),
        options.namespace());
  }

  private void bindTo(MeterRegistry meters) {
    backlog.bindTo(meters, options.slots());
    Gauge.builder("gameq.writer.outage", holdUps.mysql(), of -> of.isClosed() ? 1 : 0)
        .description("1 while MySQL is away and nothing is claimed")
        .register(meters);
    Gauge.builder("gameq.writer.parked", holdUps.tables(), of -> of.names().size())
        .description("Tables that take no rows now")
        .register(meters);
  }

  /** Whether some worker runs. */
  public boolean isAlive() {
    return workers.stream().anyMatch(AgentRunner::isAlive);
  }

  /** Why rows are not written now, each in one line; empty when they are. */
  public List<String> problems() {
    List<String> problems = new ArrayList<>();
    if (holdUps.mysql().isClosed() || watch.sinceAnswer().compareTo(MOST_SILENCE) > 0) {
      problems.add("MySQL is away: rows wait in Redis");
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

  public WriterStats stats() {
    return stats;
  }

  /** Lets the workers finish what they have claimed, then returns; waits at most one lease. */
  @Override
  public void close() {
    workers.forEach(AgentRunner::stop);
    looking.closeNow();
    slotWatch.close();
    measuring.closeNow();
    backlogRedis.close();
    upkeep.close();
    long deadline = System.nanoTime() + options.bounds().leaseMillis() * 1_000_000;
    try {
      for (AgentRunner worker : workers) {
        worker.join(deadline);
      }
      lane.stop(); // after the workers, who fill it
      lane.join(deadline);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      lane.stop();
    }
    renewing.closeNow();
    leases.close();
    watching.closeNow();
    LOG.info("writer {} stopped: {}", options.name(), stats);
  }
}

package io.gameq.writer;

import io.gameq.catalog.RowCodec;
import io.gameq.mysql.CatalogReader;
import io.gameq.mysql.GuardedWrites;
import io.gameq.mysql.LayoutTable;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlServerCheck;
import io.gameq.mysql.OwnerReader;
import io.gameq.mysql.OwnerTable;
import io.gameq.mysql.Settings;
import io.gameq.mysql.TermTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.JournalMarks;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.SlotKeys;
import io.gameq.writer.mysql.FlushTransaction;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running pool of workers over all slots of a namespace. Thread-safe. */
public final class WriterService implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WriterService.class);

  private final WriterOptions options;
  private final WriterStats stats = new WriterStats();
  private final SlotSchedule schedule;
  private final TermWatch watch;
  private final LeaseRenewal leases;
  private final TombstonePurge purge;
  private final ControlConnection hourlyRedis;
  private final Hourly hourly;
  private final List<Thread> threads = new ArrayList<>();

  /**
   * Checks the servers and starts the workers.
   *
   * @throws io.gameq.GameQueueException when a server is away or unfit, or namespace and slots are
   *     not the database's
   */
  public WriterService(WriterOptions options, RedisConnector redis, DataSource mysql) {
    this.options = options;
    this.schedule = new SlotSchedule(options.slots());
    MySqlServerCheck.of(mysql).requireUsable();
    Jdbi jdbi = Jdbi.create(mysql);
    Settings.agree(jdbi, options.namespace(), options.slots());
    PrimaryConnector primary = new PrimaryConnector(redis, new TermTable(jdbi));
    try (ControlConnection probe = new ControlConnection(primary)) {
      probe.get();
    }
    OwnerTable owners = new OwnerTable(jdbi);
    ParkedTables parked = new ParkedTables();
    watch = new TermWatch(primary);
    leases =
        new LeaseRenewal(new ControlConnection(primary), watch, options.bounds().leaseMillis());
    Worker.Shared shared =
        new Worker.Shared(
            options,
            SlotKeys.all(options.namespace(), options.slots()),
            schedule,
            owners,
            new OwnerReader(jdbi),
            new RowDecoder(
                () -> CatalogReader.read(mysql),
                new RowCodec(new LayoutTable(jdbi), Clock.systemUTC()),
                parked),
            parked,
            new FlushTransaction(mysql, GuardedWrites.on(mysql), options.patience()),
            new OutageGate(() -> MySqlPool.answers(mysql)),
            watch,
            leases,
            stats);
    for (int i = 1; i <= options.workers(); i++) {
      Thread thread =
          new Thread(
              new Worker(shared, new ControlConnection(primary)), options.name() + "-worker-" + i);
      threads.add(thread);
      thread.start();
    }
    purge = new TombstonePurge(jdbi, options.tombstonesKept());
    hourlyRedis = new ControlConnection(redis);
    hourly =
        new Hourly(
            purge, () -> JournalMarks.forgetDead(hourlyRedis, options.namespace(), shared.slots()));
    hourly.start();
    LOG.info(
        "writer {} runs with {} workers over {} slots of namespace {}",
        options.name(),
        options.workers(),
        options.slots(),
        options.namespace());
  }

  public WriterStats stats() {
    return stats;
  }

  /** Lets the workers finish what they have claimed, then returns; waits at most one lease. */
  @Override
  public void close() {
    schedule.stop();
    purge.close();
    hourly.close();
    hourlyRedis.close();
    long deadline = System.nanoTime() + options.bounds().leaseMillis() * 1_000_000;
    try {
      for (Thread thread : threads) {
        thread.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    leases.close();
    watch.close();
    LOG.info("writer {} stopped: {}", options.name(), stats);
  }
}

package io.gameq.lab.peers;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.RowBytes;
import io.gameq.lab.contender.mysql.PeerTable;
import io.gameq.lab.load.Acknowledgement;
import io.gameq.lab.load.Contender;
import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.BenchRow;
import io.gameq.lab.workload.Workload;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.ehcache.Cache;
import org.ehcache.CacheManager;
import org.ehcache.config.builders.CacheConfigurationBuilder;
import org.ehcache.config.builders.CacheManagerBuilder;
import org.ehcache.config.builders.ResourcePoolsBuilder;
import org.ehcache.config.builders.WriteBehindConfigurationBuilder;
import org.ehcache.spi.loaderwriter.CacheLoaderWriter;
import org.jspecify.annotations.Nullable;

/** Ehcache with a loader-writer that writes behind in coalesced batches; in heap. */
final class EhcacheContender implements Contender {
  /**
   * Changes that may wait, of all queues together: its puts are many times as fast as MySQL, and
   * without a bound the heap overflows before a minute is over.
   */
  private static final int QUEUED = 200_000;

  private static final String CACHE = "rows";

  private final ContenderSetup setup;
  private final PeerTable table;
  private @Nullable CacheManager manager;

  EhcacheContender(ContenderSetup setup) {
    this.setup = setup;
    table = new PeerTable(setup.place(), setup.tuning().workers());
  }

  /** A new cache: closing the one before was the way to flush it. */
  @Override
  public void prepare(Workload workload, long actionsPerThread) {
    if (manager == null) {
      long rows = (long) setup.shape().players() * setup.shape().rowsPerPlayer();
      manager =
          CacheManagerBuilder.newCacheManagerBuilder()
              .withCache(
                  CACHE,
                  CacheConfigurationBuilder.newCacheConfigurationBuilder(
                          Long.class, BenchRow.class, ResourcePoolsBuilder.heap(rows))
                      .withLoaderWriter(new TableWriter())
                      .withService(
                          WriteBehindConfigurationBuilder.newBatchedWriteBehindConfiguration(
                                  setup.tuning().mergeWindowMillis(),
                                  TimeUnit.MILLISECONDS,
                                  PeerTable.BATCH_ROWS)
                              .queueSize(QUEUED / setup.tuning().workers())
                              .enableCoalescing()
                              .concurrencyLevel(setup.tuning().workers())))
              .build(true);
    }
  }

  /** The writer's end; finds nothing, since nobody asks for rows that are not in the cache. */
  private final class TableWriter implements CacheLoaderWriter<Long, BenchRow> {
    @Override
    public void writeAll(Iterable<? extends Map.Entry<? extends Long, ? extends BenchRow>> batch) {
      List<BenchRow> rows = new ArrayList<>();
      batch.forEach(entry -> rows.add(entry.getValue()));
      table.upsertAll(rows);
    }

    @Override
    public void write(Long key, BenchRow row) {
      table.upsertAll(List.of(row));
    }

    @Override
    public @Nullable BenchRow load(Long key) {
      return null;
    }

    @Override
    public void delete(Long key) {
      throw new UnsupportedOperationException("the workload deletes nothing");
    }
  }

  @Override
  public GameThread gameThread(int thread) {
    Cache<Long, BenchRow> cache =
        Objects.requireNonNull(manager).getCache(CACHE, Long.class, BenchRow.class);
    return new GameThread() {
      @Override
      public Acknowledgement perform(Actions action) {
        for (int i = 0; i < action.rows(); i++) {
          cache.put(RowBytes.key(action.player(), action.slot(i)), action.row(i));
        }
        return Acknowledgement.DONE;
      }
    };
  }

  @Override
  public void flush() {
    close(manager);
    manager = null;
  }

  private static void close(@Nullable CacheManager manager) {
    if (manager != null) {
      manager.close();
    }
  }

  @Override
  public long rowsWritten() {
    return table.rowsWritten();
  }

  @Override
  public Map<String, String> settings() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("write-behind delay", setup.tuning().mergeWindowMillis() + " ms");
    settings.put("batch", PeerTable.BATCH_ROWS + " rows");
    settings.put("coalescing", "on, within a batch");
    settings.put("concurrency", Integer.toString(setup.tuning().workers()));
    settings.put("queue", QUEUED + " changes, then puts wait");
    settings.put("action", "put of each row, which returns at once: both groups are the same");
    return settings;
  }

  @Override
  public void close() {
    close(manager);
    table.close();
  }
}

package io.gameq.lab.peers;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.mysql.PeerTable;
import io.gameq.lab.load.Contender;
import io.gameq.lab.workload.Workload;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.ignite.Ignite;
import org.apache.ignite.IgniteCache;
import org.apache.ignite.IgniteSystemProperties;
import org.apache.ignite.Ignition;
import org.apache.ignite.cache.CacheAtomicityMode;
import org.apache.ignite.configuration.CacheConfiguration;
import org.apache.ignite.configuration.IgniteConfiguration;
import org.apache.ignite.lang.IgniteFuture;
import org.apache.ignite.logger.java.JavaLogger;
import org.apache.ignite.spi.discovery.tcp.TcpDiscoverySpi;
import org.apache.ignite.spi.discovery.tcp.ipfinder.vm.TcpDiscoveryVmIpFinder;

/** Ignite's cache on one node, with a store that writes behind and coalesces; in memory. */
final class IgniteContender implements Contender {
  private static final String CACHE = "rows";
  private static final String LOOPBACK = "127.0.0.1";

  /** Its loggers are weak: this one keeps its level. */
  private static final Logger LOG = Logger.getLogger("org.apache.ignite");

  private final ContenderSetup setup;
  private final PeerTable table;
  private final Ignite node;

  IgniteContender(ContenderSetup setup) {
    this.setup = setup;
    table = new PeerTable(setup.place(), setup.tuning().workers());
    IgniteTableStore.writeTo(table);
    System.setProperty(IgniteSystemProperties.IGNITE_UPDATE_NOTIFIER, "false");
    System.setProperty(IgniteSystemProperties.IGNITE_NO_ASCII, "true");
    System.setProperty(IgniteSystemProperties.IGNITE_QUIET, "false");
    System.setProperty(IgniteSystemProperties.IGNITE_NO_SHUTDOWN_HOOK, "true");
    LOG.setLevel(Level.SEVERE);
    node = Ignition.start(config(setup));
  }

  private static IgniteConfiguration config(ContenderSetup setup) {
    TcpDiscoverySpi discovery =
        new TcpDiscoverySpi()
            .setIpFinder(new TcpDiscoveryVmIpFinder().setAddresses(List.of(LOOPBACK)));
    discovery.setLocalAddress(LOOPBACK);
    return new IgniteConfiguration()
        .setIgniteInstanceName("gameq-compare")
        .setLocalHost(LOOPBACK)
        .setDiscoverySpi(discovery)
        .setWorkDirectory(setup.place().path().resolve("ignite").toString())
        .setGridLogger(new JavaLogger(LOG, false))
        .setMetricsLogFrequency(0);
  }

  /** A new cache: destroying the one before was the way to flush it. */
  @Override
  public void prepare(Workload workload, long actionsPerThread) {
    ContenderSetup.Tuning tuning = setup.tuning();
    var unused =
        node.getOrCreateCache(
            new CacheConfiguration<Long, byte[]>(CACHE)
                .setAtomicityMode(CacheAtomicityMode.ATOMIC)
                .setBackups(0)
                .setCopyOnRead(false)
                .setCacheStoreFactory(IgniteTableStore::new)
                .setWriteThrough(true)
                .setWriteBehindEnabled(true)
                .setWriteBehindCoalescing(true)
                .setWriteBehindFlushFrequency(tuning.mergeWindowMillis())
                .setWriteBehindFlushSize(flushSize())
                .setWriteBehindBatchSize(PeerTable.BATCH_ROWS)
                .setWriteBehindFlushThreadCount(tuning.workers()));
  }

  /**
   * Rows that may wait: all that there are. With its default, 10,240, the game's threads write
   * single rows themselves as soon as the window holds half as many again.
   */
  private int flushSize() {
    return setup.shape().players() * setup.shape().rowsPerPlayer();
  }

  @Override
  public GameThread gameThread(int thread) {
    IgniteCache<Long, byte[]> cache = node.cache(CACHE);
    // Sorted: two that lock the same rows in different orders would wait for each other.
    return new InOrderThread(
        entries -> {
          CompletableFuture<Void> sent = new CompletableFuture<>();
          cache.putAllAsync(new TreeMap<>(entries)).listen(done -> complete(done, sent));
          return sent;
        });
  }

  private static void complete(IgniteFuture<?> done, CompletableFuture<Void> sent) {
    try {
      Object unused = done.get();
      sent.complete(null);
    } catch (RuntimeException e) {
      sent.completeExceptionally(e);
    }
  }

  @Override
  public void flush() {
    node.destroyCache(CACHE);
  }

  @Override
  public long rowsWritten() {
    return table.rowsWritten();
  }

  @Override
  public Map<String, String> settings() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("write-behind flush frequency", setup.tuning().mergeWindowMillis() + " ms");
    settings.put("flush size", flushSize() + " rows");
    settings.put("batch", PeerTable.BATCH_ROWS + " rows");
    settings.put("flush threads", Integer.toString(setup.tuning().workers()));
    settings.put("coalescing", "on");
    settings.put("mode", "ATOMIC, no backups, no persistence");
    settings.put("action", "putAllAsync, a player's actions in order");
    return settings;
  }

  @Override
  public void close() {
    node.close();
    table.close();
  }
}

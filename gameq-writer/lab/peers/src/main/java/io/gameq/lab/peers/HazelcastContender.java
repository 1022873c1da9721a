package io.gameq.lab.peers;

import com.hazelcast.config.Config;
import com.hazelcast.config.InMemoryFormat;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.MapStoreConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import com.hazelcast.map.MapStore;
import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.RowBytes;
import io.gameq.lab.contender.mysql.PeerTable;
import io.gameq.lab.load.Acknowledgement;
import io.gameq.lab.load.Contender;
import io.gameq.lab.workload.Actions;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Hazelcast's IMap on one member, with a MapStore that writes behind and coalesces; in heap. */
final class HazelcastContender implements Contender {
  private static final long POLL_MILLIS = 2;
  private static final String MAP = "rows";

  /** On the thread that set the row: an answer is not worth a change of threads. */
  private static final Executor AT_ONCE = Runnable::run;

  private final ContenderSetup setup;
  private final PeerTable table;
  private final HazelcastInstance member;
  private final IMap<Long, byte[]> map;

  HazelcastContender(ContenderSetup setup) {
    this.setup = setup;
    table = new PeerTable(setup.place(), setup.tuning().workers());
    member = Hazelcast.newHazelcastInstance(config());
    map = member.getMap(MAP);
  }

  private Config config() {
    Config config = new Config();
    config.setClusterName("gameq-compare-" + ProcessHandle.current().pid());
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.setProperty("hazelcast.logging.type", "slf4j");
    config.setProperty("hazelcast.shutdownhook.enabled", "false");
    JoinConfig join = config.getNetworkConfig().getJoin();
    join.getAutoDetectionConfig().setEnabled(false);
    join.getMulticastConfig().setEnabled(false);
    config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
    config
        .getMapConfig(MAP)
        .setBackupCount(0)
        .setInMemoryFormat(InMemoryFormat.BINARY)
        .setMapStoreConfig(
            new MapStoreConfig()
                .setImplementation(new TableStore())
                .setInitialLoadMode(MapStoreConfig.InitialLoadMode.LAZY)
                .setWriteDelaySeconds(setup.tuning().mergeWindowSeconds())
                .setWriteBatchSize(PeerTable.BATCH_ROWS)
                .setOffload(false) // a set never waits for this store
                .setWriteCoalescing(true));
    return config;
  }

  /** The writer's end; finds nothing, since nobody asks for rows that are not in the map. */
  private final class TableStore implements MapStore<Long, byte[]> {
    @Override
    public void storeAll(Map<Long, byte[]> batch) {
      table.upsertAll(RowBytes.rows(batch));
    }

    @Override
    public void store(Long key, byte[] value) {
      table.upsertAll(List.of(RowBytes.row(key, value)));
    }

    @Override
    public byte @Nullable [] load(Long key) {
      return null;
    }

    @Override
    public Map<Long, byte[]> loadAll(Collection<Long> keys) {
      return Map.of();
    }

    @Override
    public @Nullable Iterable<Long> loadAllKeys() {
      return null;
    }

    @Override
    public void delete(Long key) {
      throw new UnsupportedOperationException("the workload deletes nothing");
    }

    @Override
    public void deleteAll(Collection<Long> keys) {
      throw new UnsupportedOperationException("the workload deletes nothing");
    }
  }

  @Override
  public GameThread gameThread(int thread) {
    return new GameThread() {
      @Override
      public Acknowledgement perform(Actions action) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        AtomicInteger left = new AtomicInteger(action.rows());
        for (int i = 0; i < action.rows(); i++) {
          var unused =
              map.setAsync(
                      RowBytes.key(action.player(), action.slot(i)), RowBytes.value(action.row(i)))
                  .whenCompleteAsync((set, error) -> acknowledge(done, left, error), AT_ONCE);
        }
        return Acknowledgement.of(done);
      }
    };
  }

  private static void acknowledge(
      CompletableFuture<Void> done, AtomicInteger left, @Nullable Throwable error) {
    if (error != null) {
      done.completeExceptionally(error);
    } else if (left.decrementAndGet() == 0) {
      done.complete(null);
    }
  }

  @Override
  public void flush() throws InterruptedException {
    map.flush();
    while (map.getLocalMapStats().getDirtyEntryCount() > 0) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  @Override
  public long rowsWritten() {
    return table.rowsWritten();
  }

  @Override
  public Map<String, String> settings() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("write delay", setup.tuning().mergeWindowSeconds() + " s");
    settings.put("batch", PeerTable.BATCH_ROWS + " rows");
    settings.put("coalescing", "on");
    settings.put("offload", "off");
    settings.put("format", InMemoryFormat.BINARY + ", no backups");
    settings.put("writer threads", "1, as it has");
    settings.put("action", "setAsync of each row, together");
    return settings;
  }

  @Override
  public void close() {
    member.shutdown();
    table.close();
  }
}

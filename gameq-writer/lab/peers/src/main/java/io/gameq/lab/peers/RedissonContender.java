package io.gameq.lab.peers;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.RowBytes;
import io.gameq.lab.contender.mysql.PeerTable;
import io.gameq.lab.load.Contender;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.Redisson;
import org.redisson.api.RMap;
import org.redisson.api.RQueue;
import org.redisson.api.RedissonClient;
import org.redisson.api.map.MapWriter;
import org.redisson.api.map.WriteMode;
import org.redisson.api.options.MapOptions;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.LongCodec;
import org.redisson.codec.CompositeCodec;
import org.redisson.config.Config;

/** Redisson's RMap with a MapWriter that writes behind; its queue of changes is in Redis. */
final class RedissonContender implements Contender {
  private static final int RETRIES = 10;
  private static final Duration RETRY_INTERVAL = Duration.ofMillis(100);
  private static final int CONNECTIONS = 8;
  private static final int DEFAULT_PORT = 6379;
  private static final long POLL_MILLIS = 2;

  private final ContenderSetup setup;
  private final PeerTable table;
  private final RedissonClient redisson;
  private final RMap<Long, byte[]> map;
  private final RQueue<Object> changes;
  private final AtomicInteger writing = new AtomicInteger();
  private volatile long writtenAtNanos = System.nanoTime();

  RedissonContender(ContenderSetup setup) {
    this.setup = setup;
    table = new PeerTable(setup.place(), setup.tuning().workers());
    redisson = Redisson.create(config(setup.place().redisUri()));
    String name = setup.place().name() + ":redisson";
    map =
        redisson.getMap(
            MapOptions.<Long, byte[]>name(name)
                .codec(new CompositeCodec(LongCodec.INSTANCE, ByteArrayCodec.INSTANCE))
                .writer(new TableWriter())
                .writeMode(WriteMode.WRITE_BEHIND)
                .writeBehindBatchSize(PeerTable.BATCH_ROWS)
                .writeBehindDelay((int) setup.tuning().mergeWindowMillis())
                .writeRetryAttempts(RETRIES)
                .writeRetryInterval(RETRY_INTERVAL));
    changes = redisson.getQueue("{" + name + "}:write-behind-queue");
  }

  /** Redisson takes address, password and database one by one. */
  private static Config config(String redisUri) {
    URI uri = URI.create(redisUri);
    Config config = new Config();
    config
        .useSingleServer()
        .setAddress(
            "%s://%s:%s"
                .formatted(
                    uri.getScheme(),
                    uri.getHost(),
                    uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort()))
        .setDatabase(uri.getPath().length() < 2 ? 0 : Integer.parseInt(uri.getPath().substring(1)))
        .setConnectionMinimumIdleSize(CONNECTIONS);
    if (uri.getUserInfo() != null) {
      config.setPassword(uri.getUserInfo().replaceFirst("[^:]*:", ""));
    }
    return config;
  }

  /** The writer's end; one batch at a time. */
  private final class TableWriter implements MapWriter<Long, byte[]> {
    @Override
    public void write(Map<Long, byte[]> batch) {
      writing.incrementAndGet();
      try {
        table.upsertAll(RowBytes.rows(batch));
      } finally {
        writtenAtNanos = System.nanoTime();
        writing.decrementAndGet();
      }
    }

    @Override
    public void delete(Collection<Long> keys) {
      throw new UnsupportedOperationException("the workload deletes nothing");
    }
  }

  @Override
  public GameThread gameThread(int thread) {
    return new InOrderThread(entries -> map.putAllAsync(entries).toCompletableFuture());
  }

  /** The queue is empty, and what was taken from it is written. */
  @Override
  public void flush() throws InterruptedException {
    while (changes.size() > 0
        || writing.get() > 0
        || System.nanoTime() - writtenAtNanos < TimeUnit.MILLISECONDS.toNanos(POLL_MILLIS)) {
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
    settings.put("write-behind delay", setup.tuning().mergeWindowMillis() + " ms");
    settings.put("batch", PeerTable.BATCH_ROWS + " rows");
    settings.put("retries", RETRIES + " every " + RETRY_INTERVAL.toMillis() + " ms");
    settings.put("writer threads", "1, as it has");
    settings.put("action", "putAllAsync, a player's actions in order");
    return settings;
  }

  @Override
  public void close() {
    redisson.shutdown();
    table.close();
  }
}

package io.gameq.lab.contender.redis;

import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.contender.RowBytes;
import io.gameq.lab.contender.mysql.PeerTable;
import io.gameq.lab.load.Acknowledgement;
import io.gameq.lab.load.Contender;
import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.BenchRow;
import io.lettuce.core.LMoveArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * The queue that gameq began as, to the letter: a SET of the value and an LPUSH of its key for each
 * row, in one MULTI; consumers take one message at a time with a script (pop to a list of what is
 * being processed, and GET), upsert it, and remove it from that list.
 */
final class SeedContender implements Contender {
  private static final long IDLE_MILLIS = 1;

  private final ContenderSetup setup;
  private final PeerTable table;
  private final RedisClient redis;
  private final RedisCommands<byte[], byte[]> commands;
  private final byte[] queue;
  private final byte[] processing;
  private final byte[] valuePrefix;
  private final byte[] script;
  private final List<Thread> consumers = new ArrayList<>();
  private volatile boolean stopped;

  SeedContender(ContenderSetup setup) throws IOException {
    this.setup = setup;
    String prefix = setup.place().name() + ":seed:";
    queue = bytes(prefix + "queue");
    processing = bytes(prefix + "processing");
    valuePrefix = bytes(prefix + "row:");
    table = new PeerTable(setup.place(), setup.tuning().workers());
    redis = RedisClient.create(setup.place().redisUri());
    commands = redis.connect(ByteArrayCodec.INSTANCE).sync();
    try (InputStream file = SeedContender.class.getResourceAsStream("seed-claim.lua")) {
      script = Objects.requireNonNull(file).readAllBytes();
    }
    if (setup.role() == ContenderSetup.Role.GAME) {
      startConsumers();
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private byte[] valueKey(byte[] message) {
    return ByteBuffer.allocate(valuePrefix.length + message.length)
        .put(valuePrefix)
        .put(message)
        .array();
  }

  @Override
  public GameThread gameThread(int thread) {
    StatefulRedisConnection<byte[], byte[]> connection = redis.connect(ByteArrayCodec.INSTANCE);
    connection.setAutoFlushCommands(false); // one packet for one action
    RedisAsyncCommands<byte[], byte[]> async = connection.async();
    return new GameThread() {
      @Override
      public Acknowledgement perform(Actions action) {
        async.multi();
        for (BenchRow row : RowBytes.rows(action)) {
          byte[] message = bytes(Long.toString(RowBytes.key(row.playerId(), row.slot())));
          async.set(valueKey(message), RowBytes.value(row));
          async.lpush(queue, message);
        }
        RedisFuture<TransactionResult> exec = async.exec();
        connection.flushCommands();
        return Acknowledgement.of(
            exec.toCompletableFuture().thenAccept(SeedContender::requireDone));
      }

      @Override
      public void close() {
        connection.close();
      }
    };
  }

  private static void requireDone(TransactionResult result) {
    if (result.wasDiscarded() || result.stream().anyMatch(Throwable.class::isInstance)) {
      throw new IllegalStateException("Redis refused an action");
    }
  }

  private void startConsumers() {
    for (int i = 1; i <= setup.tuning().workers(); i++) {
      Thread consumer = new Thread(this::consume, "seed-consumer-" + i);
      consumer.setDaemon(true);
      consumers.add(consumer);
      consumer.start();
    }
  }

  private void consume() {
    try (StatefulRedisConnection<byte[], byte[]> connection =
        redis.connect(ByteArrayCodec.INSTANCE)) {
      RedisCommands<byte[], byte[]> own = connection.sync();
      String digest = own.scriptLoad(script);
      while (!stopped) {
        List<byte[]> claimed =
            own.evalsha(
                digest, ScriptOutputType.MULTI, new byte[][] {queue, processing}, valuePrefix);
        if (claimed.isEmpty()) {
          TimeUnit.MILLISECONDS.sleep(IDLE_MILLIS);
          continue;
        }
        byte[] message = claimed.get(0);
        long key = Long.parseLong(new String(message, StandardCharsets.UTF_8));
        table.upsertAll(List.of(RowBytes.row(key, claimed.get(1))));
        own.lrem(processing, 1, message);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Puts back what the dead consumers had taken. */
  @Override
  public void recover() {
    while (commands.lmove(processing, queue, LMoveArgs.Builder.rightLeft()) != null) {
      // The next one.
    }
    startConsumers();
  }

  @Override
  public void flush() throws InterruptedException {
    while (commands.llen(queue) + commands.llen(processing) > 0) {
      TimeUnit.MILLISECONDS.sleep(IDLE_MILLIS);
    }
  }

  @Override
  public long rowsWritten() {
    return table.rowsWritten();
  }

  @Override
  public void close() throws InterruptedException {
    stopped = true;
    for (Thread consumer : consumers) {
      consumer.join();
    }
    redis.shutdown(0, 1, TimeUnit.SECONDS);
    table.close();
  }
}

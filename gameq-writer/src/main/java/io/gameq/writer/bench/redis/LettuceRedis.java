package io.gameq.writer.bench.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.redis.RedisConnector;
import io.gameq.writer.bench.BenchException;
import io.gameq.writer.bench.workload.Actions;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.MultiOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What the client library does without gameq: the same commands, ready as bytes, a MULTI for each
 * commit, as many commits without an answer as {@link RawRedis} has. One thread.
 */
public final class LettuceRedis {
  private static final int IN_FLIGHT = RawRedis.COMMITS_IN_FLIGHT;

  /** Commands that go to the socket together. */
  private static final int COMMITS_PER_FLUSH = 64;

  private static final long ANSWER_SECONDS = 60;
  private static final ByteArrayCodec CODEC = ByteArrayCodec.INSTANCE;
  private static final byte[] WAL = bytes(RawCommit.WAL);

  private final List<Ready> commits = new ArrayList<>();
  private final byte[] journal;
  private final long dueMillis = System.currentTimeMillis();

  private record Ready(
      CommandArgs<byte[], byte[]> own,
      CommandArgs<byte[], byte[]> rows,
      CommandArgs<byte[], byte[]> due) {}

  /**
   * Prepares actions of all threads in turn.
   *
   * @param count how many
   * @param namespace one of its own, whose keys the caller deletes
   */
  public LettuceRedis(
      List<Actions> actions, long count, RowEncoding encoding, String namespace, int slots) {
    journal = bytes(RawCommit.journal(namespace));
    for (int i = 0; i < count; i++) {
      RawCommit commit =
          RawCommit.next(actions.get(i % actions.size()), encoding, namespace, slots);
      commits.add(
          new Ready(
              args().addKey(bytes(commit.own())),
              args().addKey(bytes(commit.dirty())).addValues(commit.rows()),
              args()
                  .addKey(bytes(commit.due()))
                  .add("LT")
                  .add(dueMillis)
                  .addValue(bytes(commit.member()))));
    }
  }

  private static CommandArgs<byte[], byte[]> args() {
    return new CommandArgs<>(CODEC);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(US_ASCII);
  }

  /**
   * Sends all and waits for the answers; returns how many seconds that took.
   *
   * @throws BenchException when Redis refuses a commit, or does not answer within a minute
   */
  public double run(RedisConnector connector) throws InterruptedException {
    Semaphore room = new Semaphore(IN_FLIGHT);
    AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
    try (StatefulRedisConnection<byte[], byte[]> redis = connector.open()) {
      redis.setAutoFlushCommands(false);
      long began = System.nanoTime();
      for (int i = 0; i < commits.size(); i++) {
        if (i % COMMITS_PER_FLUSH == 0) {
          redis.flushCommands();
        }
        if (!room.tryAcquire()) {
          redis.flushCommands();
          await(room, 1);
        }
        var unused =
            send(redis, commits.get(i), i)
                .whenComplete(
                    (done, error) -> {
                      if (error != null) {
                        failed.compareAndSet(null, error);
                      }
                      room.release();
                    });
      }
      redis.flushCommands();
      await(room, IN_FLIGHT);
      double seconds = (System.nanoTime() - began) / 1e9;
      Throwable error = failed.get();
      if (error != null) {
        throw new BenchException("Redis refused a commit: " + error.getMessage(), error);
      }
      return seconds;
    }
  }

  private static void await(Semaphore room, int commits) throws InterruptedException {
    if (!room.tryAcquire(commits, ANSWER_SECONDS, TimeUnit.SECONDS)) {
      throw new BenchException("Redis did not answer within " + ANSWER_SECONDS + " s");
    }
  }

  private CompletionStage<?> send(
      StatefulRedisConnection<byte[], byte[]> redis, Ready commit, long sequence) {
    AsyncCommand<byte[], byte[], TransactionResult> end =
        new AsyncCommand<>(new Command<>(CommandType.EXEC, new MultiOutput<>(CODEC)));
    var unused =
        redis.dispatch(
            List.of(
                new Command<>(CommandType.MULTI, new StatusOutput<>(CODEC)),
                new Command<>(CommandType.GET, new ValueOutput<>(CODEC), commit.own),
                new Command<>(CommandType.HSET, new IntegerOutput<>(CODEC), commit.rows),
                new Command<>(CommandType.ZADD, new IntegerOutput<>(CODEC), commit.due),
                new Command<>(
                    CommandType.HSET,
                    new IntegerOutput<>(CODEC),
                    args().addKey(journal).addValue(WAL).add(sequence)),
                end));
    return end;
  }
}

package io.gameq.lab.bench.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.lab.bench.workload.BenchException;
import io.lettuce.core.RedisClient;
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
  private static final byte[] WAL = bytes(RawCommits.WAL);

  private final List<Ready> commits = new ArrayList<>();
  private final byte[] journal;
  private final long dueMillis = System.currentTimeMillis();

  private record Ready(
      CommandArgs<byte[], byte[]> own,
      CommandArgs<byte[], byte[]> rows,
      CommandArgs<byte[], byte[]> due) {}

  /** Prepares {@code most} commits, or as many as memory is spent on. */
  public LettuceRedis(RawCommits source, long most) {
    journal = bytes(source.journal());
    for (long bytes = 0; commits.size() < most && bytes < RawCommits.MOST_BYTES; ) {
      RawCommit commit = source.next();
      bytes += commit.rows().stream().mapToLong(keyOrImage -> keyOrImage.length).sum();
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

  /** How many were prepared. */
  public int commits() {
    return commits.size();
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
   * @param redis as lettuce's URIs are
   * @throws BenchException when Redis refuses anything of it, or does not answer within a minute
   */
  public double run(String redis) throws InterruptedException {
    try (RedisClient client = RedisClient.create(redis); // as it comes: gameq's has its timeouts
        StatefulRedisConnection<byte[], byte[]> connection = client.connect(CODEC)) {
      connection.setAutoFlushCommands(false);
      Semaphore room = new Semaphore(IN_FLIGHT);
      AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
      long began = System.nanoTime();
      for (int from = 0; from < commits.size(); from += COMMITS_PER_FLUSH) {
        int end = Math.min(commits.size(), from + COMMITS_PER_FLUSH);
        await(room, end - from);
        for (int i = from; i < end; i++) {
          var unused =
              send(connection, commits.get(i), i)
                  .whenComplete(
                      (results, error) -> {
                        failed.compareAndSet(null, error != null ? error : refusal(results));
                        room.release();
                      });
        }
        connection.flushCommands();
      }
      await(room, IN_FLIGHT);
      double seconds = (System.nanoTime() - began) / 1e9;
      Throwable error = failed.get();
      if (error != null) {
        throw new BenchException("Redis refused a commit: " + error.getMessage(), error);
      }
      return seconds;
    }
  }

  private static @Nullable Throwable refusal(TransactionResult results) {
    for (Object result : results) {
      if (result instanceof Throwable refused) {
        return refused;
      }
    }
    return null;
  }

  private static void await(Semaphore room, int commits) throws InterruptedException {
    if (!room.tryAcquire(commits, ANSWER_SECONDS, TimeUnit.SECONDS)) {
      throw new BenchException("Redis did not answer within " + ANSWER_SECONDS + " s");
    }
  }

  private CompletionStage<TransactionResult> send(
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

package io.gameq.lab.contender.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.lab.load.Acknowledgement;
import io.gameq.lab.load.Contender;
import io.gameq.lab.workload.Actions;
import io.gameq.lab.workload.BenchException;
import io.gameq.lab.workload.Workload;
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
import java.util.concurrent.CompletableFuture;

/**
 * What the client library does without gameq: the same commands, ready as bytes, a MULTI for each
 * commit. One game thread, with as many commits without an answer as {@link RawRedis} has.
 */
public final class PlainClient implements Contender {
  /** Commands that go to the socket together; the commits in flight are a multiple of it. */
  private static final int COMMITS_PER_FLUSH = 64;

  private static final ByteArrayCodec CODEC = ByteArrayCodec.INSTANCE;
  private static final byte[] WAL = bytes(CommitBytes.WAL);

  private final RedisClient client;
  private final CommitBytes form;
  private final byte[] journal;
  private final List<Ready> commits = new ArrayList<>();

  private record Ready(
      CommandArgs<byte[], byte[]> own,
      CommandArgs<byte[], byte[]> rows,
      CommandArgs<byte[], byte[]> due) {}

  /** A client of a Redis, whose URI is as lettuce's are. */
  public PlainClient(String redis, CommitBytes form) {
    this.client = RedisClient.create(redis); // as it comes: gameq's has its timeouts
    this.form = form;
    this.journal = bytes(form.journal());
  }

  /** Makes the commands of all actions, or as many as memory is spent on. */
  @Override
  public void prepare(Workload workload, long actionsPerThread) {
    commits.clear();
    long dueMillis = System.currentTimeMillis();
    Actions actions = workload.actions(0);
    for (long bytes = 0; commits.size() < actionsPerThread && bytes < CommitBytes.MOST_BYTES; ) {
      actions.next();
      RawCommit commit = form.of(actions);
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

  private static CommandArgs<byte[], byte[]> args() {
    return new CommandArgs<>(CODEC);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(US_ASCII);
  }

  @Override
  public GameThread gameThread(int thread) {
    if (thread > 0) {
      throw new IllegalArgumentException("one connection has one game thread");
    }
    StatefulRedisConnection<byte[], byte[]> connection = client.connect(CODEC);
    connection.setAutoFlushCommands(false);
    return new GameThread() {
      private long sent;

      @Override
      public Acknowledgement perform(Actions action) {
        CompletableFuture<TransactionResult> answer =
            send(connection, commits.get((int) (sent % commits.size())), sent);
        sent++;
        if (sent % COMMITS_PER_FLUSH == 0 || sent % commits.size() == 0) {
          connection.flushCommands();
        }
        return Acknowledgement.of(answer.thenAccept(PlainClient::requireDone));
      }

      @Override
      public void close() {
        connection.close();
      }
    };
  }

  private static void requireDone(TransactionResult results) {
    for (Object result : results) {
      if (result instanceof Throwable refused) {
        throw new BenchException("Redis refused a commit: " + refused.getMessage(), refused);
      }
    }
  }

  private CompletableFuture<TransactionResult> send(
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

  @Override
  public void flush() {}

  @Override
  public long rowsWritten() {
    return 0;
  }

  @Override
  public void close() {
    client.close();
  }
}

package io.gameq.lab.contender.redis;

import io.gameq.lab.load.Contender;
import io.gameq.lab.workload.BenchException;
import io.gameq.lab.workload.Workload;
import io.lettuce.core.RedisClient;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.MultiOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.RedisCommand;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What the client library does without gameq: the commands of {@link RawRedis}, their arguments
 * ready as bytes. One game thread.
 */
public final class PlainClient implements Contender {
  private static final ByteArrayCodec CODEC = ByteArrayCodec.INSTANCE;
  private static final Duration ANSWER = Duration.ofSeconds(60);

  private final RedisClient client;
  private final CommitBytes form;
  private final List<List<Ready>> groups = new ArrayList<>();
  private final List<Integer> commits = new ArrayList<>();

  /** Of a command that can be sent more than once. */
  private record Ready(ProtocolKeyword type, @Nullable CommandArgs<byte[], byte[]> args) {
    Command<byte[], byte[], ?> command() {
      return new Command<>(type, output(), args);
    }

    private CommandOutput<byte[], byte[], ?> output() {
      return switch (type.toString()) {
        case "MULTI" -> new StatusOutput<>(CODEC);
        case "MGET" -> new ValueListOutput<>(CODEC);
        default -> new IntegerOutput<>(CODEC);
      };
    }
  }

  /** A client of a Redis, whose URI is as lettuce's are. */
  public PlainClient(String redis, CommitBytes form) {
    this.client = RedisClient.create(redis); // as it comes: gameq's has its timeouts
    this.form = form;
  }

  /** Makes the arguments of all actions, or as many as memory is spent on. */
  @Override
  public void prepare(Workload workload, long actionsPerThread) {
    groups.clear();
    commits.clear();
    form.forEachGroup(
        workload,
        actionsPerThread,
        group -> {
          groups.add(
              group.commands().stream().map(of -> new Ready(of.getType(), of.getArgs())).toList());
          commits.add(group.commits());
        });
  }

  @Override
  public GameThread gameThread(int thread) {
    if (thread > 0) {
      throw new IllegalArgumentException("one connection has one game thread");
    }
    return new Sending();
  }

  private final class Sending extends GroupThread {
    private final StatefulRedisConnection<byte[], byte[]> connection = client.connect(CODEC);
    private final Queue<AsyncCommand<byte[], byte[], TransactionResult>> sent = new ArrayDeque<>();

    Sending() {
      super(commits);
    }

    @Override
    void send(int group) {
      List<Ready> ready = groups.get(group);
      List<RedisCommand<byte[], byte[], ?>> commands = new ArrayList<>(ready.size());
      ready.subList(0, ready.size() - 1).forEach(of -> commands.add(of.command()));
      AsyncCommand<byte[], byte[], TransactionResult> exec =
          new AsyncCommand<>(
              new Command<>(ready.get(ready.size() - 1).type(), new MultiOutput<>(CODEC)));
      commands.add(exec);
      var unused = connection.dispatch(commands);
      sent.add(exec);
    }

    @Override
    void awaitAnswer() throws Exception {
      requireDone(sent.remove().get(ANSWER.toMillis(), TimeUnit.MILLISECONDS));
    }

    @Override
    void disconnect() {
      connection.close();
    }
  }

  private static void requireDone(TransactionResult results) {
    for (Object result : results) {
      if (result instanceof Throwable refused) {
        throw new BenchException("Redis refused a commit: " + refused.getMessage(), refused);
      }
    }
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

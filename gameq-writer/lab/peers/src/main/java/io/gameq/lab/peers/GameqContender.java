package io.gameq.lab.peers;

import io.gameq.CommitReceipt;
import io.gameq.GameQueue;
import io.gameq.GameQueueConfig;
import io.gameq.OwnerSession;
import io.gameq.lab.bench.workload.Actions;
import io.gameq.lab.bench.workload.Workload;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlPool;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.script.ClaimScript;
import io.gameq.writer.service.WriterService;
import io.gameq.writer.turn.WriterOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** gameq itself: a node and a writer in one process, WAL and version guard on. */
final class GameqContender implements Contender {
  static final int SLOTS = 16;

  private static final int CONNECTIONS = 8;
  private static final Duration FLUSH_LIMIT = Duration.ofMinutes(5);

  private final RedisConnector redis;
  private final MySql pool;
  private final WriterService writer;
  private final @Nullable GameQueue queue;
  private final List<Map<Long, OwnerSession>> sessions = new ArrayList<>();

  GameqContender(Job job) {
    Job.Place place = job.place();
    redis =
        new RedisConnector(
            new RedisConfig(place.redisUri(), null, RedisConfig.DEFAULT_TIMEOUT_MILLIS));
    pool = MySqlPool.openForFlushes(place.mysql(CONNECTIONS));
    writer =
        new WriterService(
            new WriterOptions(
                place.name(),
                SLOTS,
                "writer-" + ProcessHandle.current().pid(),
                job.settings().writers(),
                ClaimScript.Bounds.DEFAULT.withLease(job.settings().leaseMillis()),
                WriterOptions.DEFAULT_PATIENCE,
                WriterOptions.DEFAULT_TOMBSTONES_KEPT),
            redis,
            pool);
    queue = job.mode() == Job.Mode.RECOVER ? null : GameQueue.open(config(job));
    for (int thread = 0; thread < job.shape().threads(); thread++) {
      sessions.add(new HashMap<>());
    }
  }

  private static GameQueueConfig config(Job job) {
    Job.Place place = job.place();
    return GameQueueConfig.builder()
        .redis(place.redisUri())
        .mysql(place.jdbcUrl(), place.mysqlUser(), place.mysqlPassword())
        .namespace(place.name())
        .node("node-1")
        .slots(SLOTS)
        .walDirectory(Path.of(place.directory()))
        .mergeWindow(Duration.ofMillis(job.settings().mergeWindowMillis()))
        .build();
  }

  private GameQueue queue() {
    return Objects.requireNonNull(queue);
  }

  /** Logs the players in who are going to act, each game thread its own. */
  @Override
  public void prepare(Workload workload, long actionsPerThread) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(sessions.size());
    try {
      List<Future<?>> logins = new ArrayList<>();
      for (int thread = 0; thread < sessions.size(); thread++) {
        Actions actions = workload.actions(thread);
        Map<Long, OwnerSession> own = sessions.get(thread);
        logins.add(
            threads.submit(
                () -> {
                  for (long n = 0; n < actionsPerThread; n++) {
                    actions.next();
                    own.computeIfAbsent(actions.player(), this::logIn);
                  }
                }));
      }
      for (Future<?> login : logins) {
        login.get();
      }
    } finally {
      threads.shutdown();
    }
  }

  private OwnerSession logIn(long player) {
    return queue().open("player:" + player);
  }

  @Override
  public GameThread gameThread(int thread) {
    Map<Long, OwnerSession> own = sessions.get(thread);
    return new GameThread() {
      @Override
      public CompletableFuture<Void> perform(Actions action) {
        return commit(action).queued();
      }

      @Override
      public void performAndWait(Actions action) {
        commit(action).awaitQueued(FLUSH_LIMIT);
      }

      private CommitReceipt commit(Actions action) {
        OwnerSession session = own.computeIfAbsent(action.player(), GameqContender.this::logIn);
        for (int i = 0; i < action.rows(); i++) {
          session.put(action.row(i));
        }
        return session.commit();
      }
    };
  }

  @Override
  public void flush() {
    if (!queue().drain(FLUSH_LIMIT).isEmpty()) {
      throw new IllegalStateException("not drained within " + FLUSH_LIMIT);
    }
  }

  @Override
  public long rowsWritten() {
    return writer.stats().rows();
  }

  @Override
  public void close() {
    if (queue != null) {
      queue.close();
    }
    writer.close();
    redis.close();
    pool.close();
  }
}

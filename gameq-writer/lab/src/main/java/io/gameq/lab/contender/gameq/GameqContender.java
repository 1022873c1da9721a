package io.gameq.lab.contender.gameq;

import io.gameq.config.GameQueueConfig;
import io.gameq.lab.contender.ContenderSetup;
import io.gameq.lab.load.Contender;
import io.gameq.lab.workload.Workload;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** gameq's node in the game's process, WAL and version guard on: {@link GameqWriter} writes. */
final class GameqContender implements Contender {
  private static final Duration FLUSH_LIMIT = Duration.ofMinutes(10);
  private static final int LOGIN_THREADS = 8;

  private final ContenderSetup setup;
  private final GameqNode node;

  GameqContender(ContenderSetup setup, GameqNode.Acknowledges what) {
    this.setup = setup;
    ContenderSetup.Place place = setup.place();
    node =
        new GameqNode(
            GameQueueConfig.builder()
                .redis(place.redisUri())
                .mysql(place.jdbcUrl(), place.mysqlUser(), place.mysqlPassword())
                .namespace(place.name())
                .node("node-1")
                .slots(setup.tuning().slots())
                .walDirectory(place.path())
                .mergeWindow(Duration.ofMillis(setup.tuning().mergeWindowMillis()))
                .build(),
            setup.shape().players(),
            what);
  }

  /** Logs everybody in, once. */
  @Override
  public void prepare(Workload workload, long actionsPerThread) throws InterruptedException {
    var unused = node.login(LOGIN_THREADS);
  }

  @Override
  public GameThread gameThread(int thread) {
    return node.gameThread(thread);
  }

  @Override
  public void flush() {
    if (node.settle(FLUSH_LIMIT) > 0) {
      throw new IllegalStateException("not drained within " + FLUSH_LIMIT);
    }
  }

  /** None: the writer is another process. */
  @Override
  public long rowsWritten() {
    return 0;
  }

  @Override
  public Map<String, String> settings() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("merge window", setup.tuning().mergeWindowMillis() + " ms");
    settings.put("slots", Integer.toString(setup.tuning().slots()));
    settings.put("WAL", "on, synced as by default");
    settings.put("acknowledged", "once " + node.acknowledges().where());
    settings.put("sessions", "all open");
    settings.putAll(GameqWriter.settings(setup.tuning()));
    settings.put("processes", "game and writer, each with the heap");
    return settings;
  }

  @Override
  public void close() {
    node.close();
  }
}

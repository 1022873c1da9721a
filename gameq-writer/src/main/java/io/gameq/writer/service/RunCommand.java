package io.gameq.writer.service;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySql;
import io.gameq.mysql.MySqlConfig;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.flush.FlushTransaction;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.script.ClaimScript;
import io.gameq.terminal.ErrorLine;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.EffectiveSettings;
import io.gameq.writer.config.HttpSettings;
import io.gameq.writer.config.LogSettings;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.config.WriterSettings;
import io.gameq.writer.console.Console;
import io.gameq.writer.door.MessageDoor;
import io.gameq.writer.flush.SlowLane;
import io.gameq.writer.http.HttpEndpoint;
import io.gameq.writer.logs.LogOutput;
import io.gameq.writer.mysql.ConfiguredTables;
import io.gameq.writer.node.WriterNode;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.socket.CommandServer;
import io.gameq.writer.terminal.TopCommand;
import io.gameq.writer.turn.WriterOptions;
import io.javalin.config.RoutesConfig;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code run}: the service, until SIGTERM or SIGINT. Used by the main thread. */
@Command(
    name = "run",
    description =
        "Runs a writer: carries due rows from Redis into MySQL until it is told to stop (SIGTERM,"
            + " Ctrl-C).",
    footer = {
      "",
      "Any number of writers may run beside each other. Servers that are down when it starts are"
          + " waited for. On SIGTERM a writer finishes what it has claimed, then exits:"
          + " writer.drainSeconds later at the latest, when it gives back what it could not finish."
    })
public final class RunCommand implements Callable<Integer> {
  private static final Logger LOG = LoggerFactory.getLogger(RunCommand.class);

  private static final long REPORT_EVERY_SECONDS = 10;

  /** For the writer, where its node took all of the time. */
  private static final long LEAST_STOP_NANOS = TimeUnit.SECONDS.toNanos(1);

  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Override
  public Integer call() throws InterruptedException {
    String text = config.text();
    EffectiveSettings effective = new EffectiveSettings();
    WriterConfig settings = config.read(effective);
    LogOutput.use(settings.log(), settings.writer().name());
    MySqlConfig mysql = settings.mysql();
    int connections =
        Math.max(mysql.poolSize(), settings.writer().workers() + SlowLane.THREADS + 1);
    StopSignal signal = StopSignal.hooked();
    CountDownLatch stop = signal.told();
    Health health = new Health();
    PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    meters.config().commonTags("namespace", settings.namespace());
    health.bindTo(meters);
    Ahead<MySql> mysqlAhead =
        Ahead.begin(
            "gameq-first-mysql", () -> MySqlPool.openForFlushes(mysql.withPoolSize(connections)));
    Ahead<RedisConnector> redisAhead =
        Ahead.begin("gameq-first-redis", () -> triedOnce(settings.redis()));
    AtomicReference<@Nullable WriterService> running = new AtomicReference<>();
    MessageDoor door = new MessageDoor(settings.http(), meters);
    try (mysqlAhead;
        redisAhead;
        Console console = new Console(settings, effective.all(), meters, view(running, health));
        HttpEndpoint http = listen(settings, health, meters, pages(console, door));
        JvmGcMetrics collections = jvm(meters);
        CommandServer commands = settings.writer().commandSocket() ? answers(text) : null;
        RedisConnector redis = redisAhead.get();
        MySql database = Startup.whenItAnswers(mysqlAhead, stop, health::waitsFor);
        WriterService service =
            database == null
                ? null
                : Startup.whenItAnswers(
                    () -> {
                      ConfiguredTables.requireManaged(database, settings.tables());
                      return new WriterService(options(settings), redis, database, meters);
                    },
                    stop,
                    health::waitsFor);
        WriterNode node =
            service == null || settings.node() == null
                ? null
                : Startup.whenItAnswers(() -> WriterNode.open(settings), stop, health::waitsFor)) {
      if (service != null) {
        running.set(service);
        signal.running();
        if (node != null) {
          door.opens(node.queue(), Objects.requireNonNull(database));
        }
        health.runs(
            service::isPaused,
            () -> service.isAlive() && (node == null || node.isAlive()),
            () -> problems(service, node));
        untilToldToStop(service, stop);
        health.stops();
        long deadline =
            System.nanoTime() + TimeUnit.SECONDS.toNanos(settings.writer().drainSeconds());
        door.closes();
        if (node != null) {
          node.close();
        }
        Remains unused =
            service.stop(
                Duration.ofNanos(Math.max(LEAST_STOP_NANOS, deadline - System.nanoTime())));
        signal.drained();
      }
    } catch (GameQueueException e) {
      if (settings.log().format() == LogSettings.Format.TEXT) {
        throw e; // the command's own line says it
      }
      LOG.error("cannot run: {}", ErrorLine.of(e));
      return ExitCodes.COULD_NOT_RUN;
    } finally {
      signal.closed();
    }
    return ExitCodes.OK;
  }

  /** The client's first connection loads most of what it is made of, whatever comes of it. */
  private static RedisConnector triedOnce(RedisConfig config) {
    RedisConnector redis = new RedisConnector(config);
    try {
      redis.open().close();
    } catch (GameQueueException e) {
      LOG.debug("the service will say so when it needs Redis: {}", e.getMessage());
    }
    return redis;
  }

  private static JvmGcMetrics jvm(MeterRegistry meters) {
    new JvmMemoryMetrics().bindTo(meters);
    new ProcessorMetrics().bindTo(meters);
    new UptimeMetrics().bindTo(meters);
    JvmGcMetrics collections = new JvmGcMetrics();
    collections.bindTo(meters);
    return collections;
  }

  private static Console.WriterView view(
      AtomicReference<@Nullable WriterService> running, Health health) {
    return new Console.WriterView(
        () -> {
          WriterService service = running.get();
          return service == null ? null : service.backlog();
        },
        () -> {
          WriterService service = running.get();
          return service == null ? Map.of() : service.parkedTables();
        },
        () -> {
          WriterService service = running.get();
          return service == null ? Pauses.NONE : service.pauses();
        },
        () -> {
          WriterService service = running.get();
          return service == null ? null : service.processes();
        },
        health::problems);
  }

  private static Consumer<RoutesConfig> pages(Console console, MessageDoor door) {
    return routes -> {
      console.addTo(routes);
      door.addTo(routes);
    };
  }

  private static List<String> problems(WriterService service, @Nullable WriterNode node) {
    List<String> problems = new ArrayList<>(service.problems());
    if (node != null) {
      problems.addAll(node.problems());
    }
    return problems;
  }

  private @Nullable CommandServer answers(String text) {
    TopCommand all = (TopCommand) Objects.requireNonNull(spec).root().userObject();
    return CommandServer.open(config.file(), text, all::executeFor);
  }

  /** Where several writers of one host have the port that nobody chose, the first has it. */
  private static @Nullable HttpEndpoint listen(
      WriterConfig settings,
      Health health,
      PrometheusMeterRegistry meters,
      Consumer<RoutesConfig> pages) {
    HttpSettings http = settings.http();
    if (http.port() == 0) {
      return null;
    }
    try {
      HttpEndpoint endpoint =
          HttpEndpoint.open(
              http,
              new HttpEndpoint.Shown(health::isAlive, health::problems, meters::scrape),
              pages);
      LOG.info("{} has the console, /live, /ready and /metrics", http.url(endpoint.port()));
      return endpoint;
    } catch (GameQueueException e) {
      if (http.isPortGiven()) {
        throw e;
      }
      LOG.warn("{}: no console, no metrics and no health of this writer", e.getMessage());
      return null;
    }
  }

  private static WriterOptions options(WriterConfig settings) {
    WriterSettings writer = settings.writer();
    return new WriterOptions(
        settings.namespace(),
        settings.slots(),
        writer.name(),
        writer.workers(),
        new ClaimScript.Bounds(
            writer.batchOwners(),
            writer.batchRows(),
            ClaimScript.Bounds.DEFAULT.bytes(),
            writer.leaseSeconds() * 1_000L),
        new FlushTransaction.Patience(
            WriterOptions.DEFAULT_PATIENCE.attempts(),
            WriterOptions.DEFAULT_PATIENCE.millis(),
            WriterOptions.DEFAULT_PATIENCE.halfMillis(),
            WriterOptions.DEFAULT_PATIENCE.rowSeconds(),
            writer.deadLetters()),
        Duration.ofDays(writer.tombstoneDays()),
        writer.rowsPerSecond());
  }

  private static void untilToldToStop(WriterService service, CountDownLatch stop)
      throws InterruptedException {
    for (long flushes = 0;
        !stop.await(REPORT_EVERY_SECONDS, TimeUnit.SECONDS);
        flushes = service.stats().flushes()) {
      if (service.stats().flushes() != flushes) {
        LOG.info("{}", service.stats());
      }
    }
  }
}

package io.gameq.writer.service;

import io.gameq.GameQueueException;
import io.gameq.agent.AgentRunner.DaemonThreads;
import io.gameq.mysql.ErrorKind;
import io.gameq.mysql.MySqlPool;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.mysql.flush.FlushPlan;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.script.ClaimScript;
import io.gameq.terminal.ErrorLine;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.config.WriterConfig.HttpSettings;
import io.gameq.writer.config.WriterConfig.LogSettings;
import io.gameq.writer.config.WriterConfig.WriterSettings;
import io.gameq.writer.console.Console;
import io.gameq.writer.flush.SlowLane;
import io.gameq.writer.flush.WriterOptions;
import io.gameq.writer.http.HttpEndpoint;
import io.gameq.writer.messages.MessageApi;
import io.gameq.writer.mysql.WriterRequirements;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.service.WriterService.StopReport;
import io.gameq.writer.socket.CommandServer;
import io.gameq.writer.terminal.TopCommand;
import io.javalin.config.RoutesConfig;
import io.micrometer.core.instrument.Gauge;
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
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
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
    WriterConfig settings = config.read();
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
    BackgroundOpener<MySql> mysqlAhead =
        new BackgroundOpener<>(
            "gameq-first-mysql", () -> MySqlPool.openForFlushes(mysql.withPoolSize(connections)));
    BackgroundOpener<RedisConnector> redisAhead =
        new BackgroundOpener<>("gameq-first-redis", () -> triedOnce(settings.redis()));
    AtomicReference<@Nullable WriterService> running = new AtomicReference<>();
    MessageApi door = new MessageApi(settings.http(), meters);
    try (mysqlAhead;
        redisAhead;
        Console console =
            new Console(settings, settings.effective(), meters, view(running, health));
        HttpEndpoint http =
            listen(
                settings,
                health,
                meters,
                routes -> {
                  console.addTo(routes);
                  door.addTo(routes);
                });
        JvmGcMetrics collections = jvm(meters);
        CommandServer commands = settings.writer().commandSocket() ? answers(text) : null;
        RedisConnector redis = redisAhead.get();
        MySql database = Startup.whenItAnswers(mysqlAhead, stop, health::waitsFor);
        WriterService service =
            database == null
                ? null
                : Startup.whenItAnswers(
                    () -> {
                      WriterRequirements.requireManaged(database, settings.tables());
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
        StopReport unused =
            service.stop(
                Duration.ofNanos(Math.max(LEAST_STOP_NANOS, deadline - System.nanoTime())));
        signal.drained();
        GameQueueException refusal = service.refusal();
        if (refusal != null) {
          throw refusal;
        }
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
    Supplier<Optional<WriterService>> service = () -> Optional.ofNullable(running.get());
    return new Console.WriterView(
        () -> service.get().map(WriterService::backlog).orElse(null),
        () -> service.get().map(WriterService::parkedTables).orElse(Map.of()),
        () -> service.get().map(WriterService::pauses).orElse(Pauses.NONE),
        () -> service.get().map(WriterService::processes).orElse(null),
        health::problems);
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
              new HttpEndpoint.EndpointContent(health::isAlive, health::problems, meters::scrape),
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
        new FlushPlan.Patience(
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
    long flushes = 0;
    for (long seconds = 1;
        service.refusal() == null && !stop.await(1, TimeUnit.SECONDS);
        seconds++) {
      if (seconds % REPORT_EVERY_SECONDS == 0 && service.stats().flushes() != flushes) {
        flushes = service.stats().flushes();
        LOG.info("{}", service.stats());
      }
    }
  }

  /**
   * Waits for servers that are down, or not ready yet, when the service starts. What only a person
   * can end, such as a wrong password, ends the start. Stateless.
   */
  public static final class Startup {

    private static final long ASK_EVERY_MILLIS = 2_000;

    private Startup() {}

    /**
     * Opens something as soon as the server that it needs answers; null when the process is to stop
     * first.
     *
     * @param waitsFor told what is away or not ready, each time
     * @throws GameQueueException what {@code open} throws for anything else, such as a wrong
     *     password
     */
    public static <T> @Nullable T whenItAnswers(
        Supplier<T> open, CountDownLatch stop, Consumer<String> waitsFor)
        throws InterruptedException {
      String said = null;
      do {
        try {
          T opened = open.get();
          if (said != null) {
            LOG.info("it answers now; this was: {}", said);
          }
          return opened;
        } catch (GameQueueException e) {
          if (!e.isOutage() && !ErrorKind.mayPass(e)) {
            throw e;
          }
          waitsFor.accept(e.getMessage());
          // Once for each reason, however long it lasts.
          if (!Objects.equals(e.getMessage(), said)) {
            said = e.getMessage();
            LOG.warn("{}; waiting for it, asking again every {} s", said, ASK_EVERY_MILLIS / 1_000);
          }
        }
      } while (!stop.await(ASK_EVERY_MILLIS, TimeUnit.MILLISECONDS));
      return null;
    }
  }

  /**
   * SIGTERM or SIGINT, which a process obeys at the pace of its service: the JVM ends when the
   * service has stopped and a second later at the latest, since a pool of connections to a server
   * that hangs takes long to close. A service that has not started yet has nothing to finish.
   * Thread-safe.
   */
  static final class StopSignal {
    private static final long MOST_CLOSE_MILLIS = 1_000;

    private final CountDownLatch told = new CountDownLatch(1);
    private final CountDownLatch drained = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean running;

    /** One that waits for the signal from now on. */
    static StopSignal hooked() {
      StopSignal signal = new StopSignal();
      Runtime.getRuntime().addShutdownHook(DaemonThreads.named("gameq-stop", signal::obey));
      return signal;
    }

    private void obey() {
      told.countDown();
      try {
        if (!isClosedSoon() && running) {
          drained.await();
          boolean unused = isClosedSoon();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private boolean isClosedSoon() throws InterruptedException {
      return closed.await(MOST_CLOSE_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** The service claims rows from now on. */
    void running() {
      running = true;
    }

    /** Opened when it came. */
    CountDownLatch told() {
      return told;
    }

    /** The service has stopped: nothing is left to wait for but connections. */
    void drained() {
      drained.countDown();
    }

    /** Everything is closed. */
    void closed() {
      drained.countDown();
      closed.countDown();
    }
  }

  /**
   * Opens something on a thread of its own before it is asked for, so that slow starts overlap.
   * Used by one thread.
   *
   * <p>Closing it closes what was opened ahead and never asked for, also when that is opened later.
   */
  static final class BackgroundOpener<T extends AutoCloseable>
      implements Supplier<T>, AutoCloseable {
    private final Supplier<T> open;

    /** Null once it was asked for, or closed. */
    private @Nullable CompletableFuture<T> first;

    /** Begins at once, on a thread of that name. */
    BackgroundOpener(String thread, Supplier<T> open) {
      this.open = open;
      this.first =
          CompletableFuture.supplyAsync(open, run -> DaemonThreads.named(thread, run).start());
    }

    /**
     * Waits for what was begun; each further time opens it again, on the caller's thread.
     *
     * @throws RuntimeException what opening it threw
     */
    @Override
    public T get() {
      CompletableFuture<T> begun = first;
      first = null;
      try {
        return begun == null ? open.get() : begun.join();
      } catch (CompletionException e) {
        throw e.getCause() instanceof RuntimeException cause ? cause : e;
      }
    }

    @Override
    public void close() {
      CompletableFuture<T> begun = first;
      first = null;
      if (begun != null) {
        CompletableFuture<Void> unused = begun.thenAccept(BackgroundOpener::closeQuietly);
      }
    }

    private static void closeQuietly(AutoCloseable opened) {
      try {
        opened.close();
      } catch (Exception e) {
        // Nobody asked for it, and the process ends.
      }
    }
  }

  /**
   * Whether a writer process lives and does its work, for whoever watches it from outside.
   * Thread-safe.
   */
  public static final class Health {
    private volatile @Nullable String waitsFor;
    private volatile @Nullable Checks running;
    private volatile boolean stopping;

    private record Checks(
        BooleanSupplier isPaused, BooleanSupplier isAlive, Supplier<List<String>> problems) {}

    /** What a process is doing, one at a time. */
    enum WriterState {
      /** It has asked no server yet. */
      STARTING,
      /** It waits for a server before it can start. */
      WAITING,
      WRITING,
      /** An operator paused it, or all. */
      PAUSED,
      /** It runs, and rows are not written. */
      NOT_WRITING,
      STOPPING
    }

    /** Registers what it is doing, as a meter for each state that is 1 for the one of now. */
    public void bindTo(MeterRegistry meters) {
      for (WriterState state : WriterState.values()) {
        Gauge.builder("gameq.writer.state", this, of -> of.state() == state ? 1 : 0)
            .description("1 for what this writer is doing now")
            .tag("state", Shown.lower(state))
            .register(meters);
      }
    }

    private WriterState state() {
      Checks now = running;
      if (stopping) {
        return WriterState.STOPPING;
      }
      if (now == null) {
        return waitsFor == null ? WriterState.STARTING : WriterState.WAITING;
      }
      return now.isPaused.getAsBoolean()
          ? WriterState.PAUSED
          : now.problems.get().isEmpty() ? WriterState.WRITING : WriterState.NOT_WRITING;
    }

    /** The service cannot start yet, and why. */
    void waitsFor(String what) {
      waitsFor = what;
    }

    /**
     * The service runs from now on.
     *
     * @param isPaused whether an operator wants it to claim nothing
     * @param alive false when it cannot do its work again without a restart
     * @param problems why it does not do its work now, each in one line; empty when it does
     */
    void runs(BooleanSupplier isPaused, BooleanSupplier alive, Supplier<List<String>> problems) {
      running = new Checks(isPaused, alive, problems);
    }

    /** The service claims nothing any more. */
    void stops() {
      stopping = true;
    }

    /** Whether the process can do its work, or will when servers answer; else it is to be ended. */
    public boolean isAlive() {
      Checks now = running;
      // Workers end before what they left is finished.
      return stopping || now == null || now.isAlive.getAsBoolean();
    }

    /** Why rows are not written now, each in one line; empty when they are. */
    public List<String> problems() {
      Checks now = running;
      if (stopping) {
        return List.of("stopping: what is claimed is finished, nothing else is claimed");
      }
      return now == null
          ? List.of(Objects.requireNonNullElse(waitsFor, "starting"))
          : now.problems.get();
    }
  }
}

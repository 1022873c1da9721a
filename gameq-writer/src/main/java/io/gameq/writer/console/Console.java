package io.gameq.writer.console;

import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Entry;
import io.gameq.terminal.ClassResource;
import io.gameq.writer.cli.AuditCommand;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.config.WriterConfig.ConsoleMode;
import io.gameq.writer.config.WriterConfig.Setting;
import io.gameq.writer.console.ConsoleRoutes.Access;
import io.gameq.writer.console.HoldPages.HoldView;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.setup.ConfigCommand;
import io.gameq.writer.status.Processes;
import io.gameq.writer.status.StatusSnapshot;
import io.gameq.writer.status.StatusSnapshot.SlotState;
import io.javalin.config.RoutesConfig;
import io.javalin.http.HttpStatus;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.HistogramSnapshot;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The web pages of a writer, for operators: tables and records that the browser shows as text.
 * Thread-safe.
 */
public final class Console implements AutoCloseable {
  /** The files that a browser loads: they lie beside this class, and no other is found. */
  private static final String FILES =
      """
      index.html style.css icon.svg theme.js app.js api.js dom.js chart.js dialog.js advice.js
      states.js text.js table.js pages/overview.js pages/slots.js pages/fleet.js pages/owners.js
      pages/trace.js pages/held.js pages/dead.js pages/letter.js pages/stale.js pages/topics.js
      pages/message.js pages/settings.js pages/audit.js
      """;

  /** Of the audit log, on one page. */
  private static final int ENTRIES = 50;

  private static final double OF_HUNDRED = 0.99;

  private final WriterConfig settings;
  private final List<Setting> effective;
  private final ConsoleServers servers;
  private final WriterView writer;
  private final MeterRegistry meters;

  /**
   * What it asks of the writer that it runs in; each answers at once.
   *
   * @param backlog the latest look at what waits; null before the first
   * @param parked tables that take no rows now, and why
   * @param pauses what operators paused, as the writer knows it
   * @param processes the latest look at nodes and writers; null before the first
   * @param problems why rows are not written now, each in one line
   */
  public record WriterView(
      Supplier<@Nullable Backlog> backlog,
      Supplier<Map<String, String>> parked,
      Supplier<Pauses> pauses,
      Supplier<@Nullable Processes> processes,
      Supplier<List<String>> problems) {
    /** Tables that take no rows of this writer, or of another, and why. */
    Map<String, String> allParked() {
      Processes look = processes.get();
      Map<String, String> all = new TreeMap<>(look == null ? Map.of() : look.parked());
      all.putAll(parked.get());
      return all;
    }
  }

  /**
   * A console that shows a writer, from its first moment on; it asks no server until asked.
   *
   * @param effective the settings as they are shown, secrets masked
   */
  public Console(
      WriterConfig settings, List<Setting> effective, MeterRegistry meters, WriterView writer) {
    this.settings = settings;
    this.effective = List.copyOf(effective);
    this.writer = writer;
    this.servers = new ConsoleServers(settings);
    this.meters = meters;
  }

  /** Adds its pages; none when the settings say so. To be called once. */
  public void addTo(RoutesConfig routes) {
    if (settings.http().console() == ConsoleMode.NONE) {
      return;
    }
    addFiles(routes);
    ConsoleRoutes guarded =
        new ConsoleRoutes(
            routes,
            settings.http(),
            settings.namespace(),
            Clock.systemUTC(),
            (actor, role) ->
                AuditTable.add(servers.mysql(), actor, "sign in", "console", "role " + role));
    guarded.add(Access.LOOK, "overview", request -> overview());
    guarded.add(
        Access.LOOK,
        "writer",
        request -> Map.of("namespace", settings.namespace(), "writer", settings.writer().name()));
    guarded.add(Access.LOOK, "slots", request -> slots());
    guarded.add(Access.LOOK, "fleet", request -> fleet());
    new HoldPages(servers, writer.pauses(), writer::allParked).addTo(guarded);
    new RowPages(servers, writer::allParked).addTo(guarded);
    new TopicPages(servers).addTo(guarded);
    guarded.add(Access.LOOK, "settings", request -> ConfigCommand.SETTINGS.table(effective));
    guarded.add(Access.LOOK, "audit", this::audit);
  }

  private static void addFiles(RoutesConfig routes) {
    routes.get("/", context -> context.redirect("/console/", HttpStatus.SEE_OTHER));
    routes.get(
        "/console",
        context -> {
          if (context.path().endsWith("/")) {
            context
                .contentType(type("index.html"))
                .result(ClassResource.bytes(Console.class, "index.html"));
          } else { // the page names its files beside itself
            context.redirect("/console/", HttpStatus.SEE_OTHER);
          }
        });
    for (String file : FILES.strip().split("\\s+", -1)) {
      byte[] content = ClassResource.bytes(Console.class, file);
      routes.get("/console/" + file, context -> context.contentType(type(file)).result(content));
    }
  }

  private static String type(String file) {
    return switch (file.substring(file.lastIndexOf('.') + 1)) {
      case "html" -> "text/html; charset=utf-8";
      case "css" -> "text/css; charset=utf-8";
      case "svg" -> "image/svg+xml";
      default -> "text/javascript; charset=utf-8";
    };
  }

  @Override
  public void close() {
    servers.close();
  }

  /** What waits in each slot, of how many slots; of 0 before the first look. */
  private Object slots() {
    Backlog look = writer.backlog().get();
    List<SlotState> all = look == null ? List.of() : SlotState.of(look, writer.pauses().get());
    List<SlotState> told =
        all.stream().filter(SlotState::isToTell).sorted(SlotState.OLDEST_FIRST).toList();
    return Map.of("of", all.size(), "slots", SlotState.CONSOLE.table(told));
  }

  /** Nodes and writers, and what is to be done; {@code isKnown} is false before the first look. */
  private Object fleet() {
    Processes look = writer.processes().get();
    Processes known = look == null ? new Processes(List.of(), List.of(), 0) : look;
    return Map.of(
        "isKnown",
        look != null,
        "writers",
        Processes.WRITERS.table(known.writers()),
        "nodes",
        Processes.NODES.table(known.nodes()),
        "toDo",
        Stream.concat(
                known.writers().stream().flatMap(of -> of.toDo().stream()),
                known.nodes().stream().flatMap(of -> of.toDo().stream()))
            .toList());
  }

  /** What operators did; {@code next} goes on where this page ends, empty when it was the last. */
  private Object audit(ConsoleRequest request) {
    long before = request.number("before", Long.MAX_VALUE);
    List<Entry> page = AuditTable.newest(servers.mysql(), before, ENTRIES);
    String next = page.size() < ENTRIES ? "" : Long.toString(page.get(page.size() - 1).id());
    return Map.of("entries", AuditCommand.VIEW.table(page), "next", next);
  }

  /**
   * How long a step took since this writer started, ms.
   *
   * @param mostOf what 99 of 100 took at most, rounded up to the next bound; -1 beyond the last
   */
  private record StepTiming(String name, long count, double mean, double mostOf, double longest) {
    static StepTiming of(Timer timer) {
      HistogramSnapshot snapshot = timer.takeSnapshot();
      double mostOf =
          Arrays.stream(snapshot.histogramCounts())
              .filter(of -> of.count() >= snapshot.count() * OF_HUNDRED)
              .mapToDouble(of -> of.bucket(TimeUnit.MILLISECONDS))
              .findFirst()
              .orElse(-1);
      return new StepTiming(
          String.valueOf(timer.getId().getTag("step")),
          snapshot.count(),
          snapshot.mean(TimeUnit.MILLISECONDS),
          Double.isFinite(mostOf) ? mostOf : -1,
          snapshot.max(TimeUnit.MILLISECONDS));
    }
  }

  /** What waits, what is done, and whether something is to be done about it. */
  private Object overview() {
    Backlog backlog = writer.backlog().get();
    Processes processes = writer.processes().get();
    double merges = gauge("gameq.merge.ratio"); // row changes committed for each row written
    double counted = gauge("gameq.deadletters");
    long deadLetters = Double.isNaN(counted) ? -1 : Math.round(counted); // not counted yet
    List<HoldView> held =
        new ArrayList<>(HoldView.of(writer.pauses().get().all(), writer.allParked()));
    held.addAll(HoldView.heldUp(backlog));
    Map<String, @Nullable Object> all = new HashMap<>();
    all.put("problems", writer.problems().get());
    all.put("toDo", toDo(backlog, deadLetters));
    all.put("held", held);
    all.put("writers", processes == null ? 0 : processes.writersThere());
    all.put("rowsPerSecond", processes == null ? 0 : processes.rowsPerSecond()); // of all
    all.put("waits", backlog == null ? null : StatusSnapshot.BACKLOG.json(backlog));
    all.put("deadLetters", deadLetters);
    all.put("mergeRatio", Double.isFinite(merges) ? merges : null);
    all.put("totals", totals());
    all.put(
        "steps",
        meters.find("gameq.writer.step").timers().stream()
            .map(StepTiming::of)
            .sorted(Comparator.comparingLong(StepTiming::count).reversed())
            .toList());
    return all;
  }

  /** Before the first look there is nothing to say. */
  private List<String> toDo(@Nullable Backlog backlog, long deadLetters) {
    return backlog == null
        ? List.of()
        : new StatusSnapshot(
                settings.namespace(),
                Instant.now(),
                backlog,
                "",
                writer.processes().get(),
                Math.max(0, deadLetters),
                "",
                writer.pauses().get())
            .toDo();
  }

  /** What this writer did since it started. */
  private Map<String, Double> totals() {
    Map<String, Double> totals = new HashMap<>();
    for (String name : List.of("rows", "owners", "givenBack", "reaped", "deadLetters", "stale")) {
      var counter = meters.find("gameq.writer." + name.toLowerCase(Locale.ROOT)).counter();
      totals.put(name, counter == null ? 0 : counter.count());
    }
    var rowsOfFlushes = meters.find("gameq.writer.flush.rows").summary();
    totals.put("flushes", rowsOfFlushes == null ? 0.0 : rowsOfFlushes.count());
    return totals;
  }

  /** NaN when there is none, or it is not known. */
  private double gauge(String name) {
    var gauge = meters.find(name).gauge();
    return gauge == null ? Double.NaN : gauge.value();
  }
}

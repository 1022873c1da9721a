package io.gameq.writer.console;

import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Entry;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.RecordView.Table;
import io.gameq.writer.admin.StaleSessions;
import io.gameq.writer.admin.StaleSessions.RowColumn;
import io.gameq.writer.admin.StaleSessions.ShownRow;
import io.gameq.writer.cli.AuditCommand;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.config.WriterConfig.ConsoleMode;
import io.gameq.writer.config.WriterConfig.Setting;
import io.gameq.writer.console.GuardedRoutes.Visitor;
import io.gameq.writer.console.HeldPages.HeldState;
import io.gameq.writer.mysql.Discards;
import io.gameq.writer.mysql.RowReading;
import io.gameq.writer.pause.Pausing.Pauses;
import io.gameq.writer.redis.StaleRows;
import io.gameq.writer.redis.StaleRows.Listed;
import io.gameq.writer.setup.ConfigCommand;
import io.gameq.writer.status.Processes;
import io.gameq.writer.status.StatusLook;
import io.gameq.writer.status.StatusLook.SlotState;
import io.javalin.config.RoutesConfig;
import io.javalin.http.ConflictResponse;
import io.javalin.http.Context;
import io.javalin.http.HttpStatus;
import io.javalin.http.NotFoundResponse;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.distribution.HistogramSnapshot;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
  /** Of the audit log, on one page. */
  private static final int ENTRIES = 50;

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
    ConsoleFiles.addTo(routes);
    GuardedRoutes guarded =
        new GuardedRoutes(
            routes,
            settings.http(),
            settings.namespace(),
            Clock.systemUTC(),
            (actor, role) ->
                AuditTable.add(servers.mysql(), actor, "sign in", "console", "role " + role));
    new OverviewPage(settings, meters, writer).addTo(guarded);
    guarded.look("slots", context -> slots());
    guarded.look("fleet", context -> fleet());
    new OwnerPages(servers, writer::allParked).addTo(guarded);
    new HeldPages(servers, writer).addTo(guarded);
    new DeadPages(servers).addTo(guarded);
    new StalePages(servers).addTo(guarded);
    new TopicPages(servers).addTo(guarded);
    guarded.look("settings", context -> ConfigCommand.SETTINGS.table(effective));
    guarded.look("audit", this::audit);
  }

  @Override
  public void close() {
    servers.close();
  }

  /**
   * What waits in each slot.
   *
   * @param of how many slots there are; 0 before the first look
   */
  record SlotList(int of, Table slots) {}

  private SlotList slots() {
    Backlog look = writer.backlog().get();
    List<SlotState> all = look == null ? List.of() : SlotState.of(look, writer.pauses().get());
    return new SlotList(
        all.size(),
        SlotState.CONSOLE.table(
            all.stream().filter(SlotState::isToTell).sorted(SlotState.OLDEST_FIRST).toList()));
  }

  /** Nodes and writers, and what is to be done; {@code isKnown} is false before the first look. */
  record Fleet(boolean isKnown, Table writers, Table nodes, List<String> toDo) {}

  private Fleet fleet() {
    Processes look = writer.processes().get();
    Processes known = look == null ? new Processes(List.of(), List.of(), 0) : look;
    return new Fleet(
        look != null,
        Processes.WRITERS.table(known.writers()),
        Processes.NODES.table(known.nodes()),
        Stream.concat(
                known.writers().stream().flatMap(of -> of.toDo().stream()),
                known.nodes().stream().flatMap(of -> of.toDo().stream()))
            .toList());
  }

  /** What operators did; {@code next} goes on where this page ends, empty when it was the last. */
  record AuditList(Table entries, String next) {}

  private AuditList audit(Context context) {
    long before = context.queryParamAsClass("before", Long.class).getOrDefault(Long.MAX_VALUE);
    List<Entry> page = AuditTable.newest(servers.mysql(), before, ENTRIES);
    return new AuditList(
        AuditCommand.VIEW.table(page),
        page.size() < ENTRIES ? "" : Long.toString(page.get(page.size() - 1).id()));
  }

  /**
   * The files that a browser loads: they lie beside this class, and no other is found. Stateless.
   */
  static final class ConsoleFiles {
    private static final String[] PAGES = {
      "index.html",
      "style.css",
      "icon.svg",
      "theme.js",
      "app.js",
      "api.js",
      "dom.js",
      "chart.js",
      "dialog.js",
      "advice.js",
      "states.js",
      "text.js",
      "pages/overview.js",
      "table.js",
      "pages/slots.js",
      "pages/fleet.js",
      "pages/owners.js",
      "pages/trace.js",
      "pages/held.js",
      "pages/dead.js",
      "pages/letter.js",
      "pages/stale.js",
      "pages/topics.js",
      "pages/message.js",
      "pages/settings.js",
      "pages/audit.js"
    };

    private ConsoleFiles() {}

    static void addTo(RoutesConfig routes) {
      routes.get("/", context -> context.redirect("/console/", HttpStatus.SEE_OTHER));
      routes.get(
          "/console",
          context -> {
            if (context.path().endsWith("/")) {
              context.contentType(type("index.html")).result(read("index.html"));
            } else { // the page names its files beside itself
              context.redirect("/console/", HttpStatus.SEE_OTHER);
            }
          });
      for (String file : PAGES) {
        byte[] content = read(file);
        routes.get("/console/" + file, context -> context.contentType(type(file)).result(content));
      }
    }

    private static byte[] read(String file) {
      try (InputStream content =
          Objects.requireNonNull(ConsoleFiles.class.getResourceAsStream(file), file)) {
        return content.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
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
  }

  /** Sessions with stale rows: a list, their rows, and how they are discarded. Thread-safe. */
  static final class StalePages {
    private static final int SESSIONS = 200;

    private static final int MOST_OWNER_CHARS = 255;
    private static final int MOST_SESSION_CHARS = 64;

    private final ConsoleServers servers;

    StalePages(ConsoleServers servers) {
      this.servers = servers;
    }

    /** One session; times are of commits. */
    record Session(
        String owner,
        String session,
        boolean ownsNow,
        long rows,
        long bytes,
        long newestMillis,
        boolean isAbout) {
      static Session of(Listed listed) {
        StaleRows.Session session = listed.session();
        return new Session(
            session.owner().id(),
            session.session().text(),
            session.ownsNow(),
            listed.rows(),
            listed.bytes(),
            Shown.time(listed.newestVersion()).toEpochMilli(),
            listed.isAbout());
      }
    }

    /** A page, see {@link StaleRows#page}. */
    record SessionList(List<Session> sessions, long count, String next) {}

    /** A row with its values, beside the one that MySQL holds. */
    record Row(
        String key,
        String version,
        String op,
        List<RowColumn> columns,
        @Nullable String undecodable) {
      static Row of(ShownRow row) {
        return new Row(
            row.key(),
            Long.toUnsignedString(row.version()),
            row.op(),
            row.columns(),
            row.undecodable());
      }
    }

    /** The first of them, and how many there are. */
    record RowList(List<Row> rows, long count) {}

    /** How many rows are gone. */
    record Removed(int rows) {}

    void addTo(GuardedRoutes routes) {
      routes.look("stale", this::list);
      routes.values("stale-values", this::values);
      routes.act("stale-discard", this::discard);
    }

    private SessionList list(Context context) {
      String after = Objects.requireNonNullElse(context.queryParam("after"), "");
      StaleRows.Page page = servers.list(() -> servers.stale().page(after, SESSIONS));
      return new SessionList(
          page.sessions().stream().map(Session::of).toList(), page.count(), page.next());
    }

    private RowList values(RequestBody body, Visitor visitor) {
      StaleRows stale = servers.stale();
      StaleRows.Session session = named(stale, body);
      audit(visitor, "stale show", session);
      List<Row> rows = new ArrayList<>();
      StaleSessions.rows(
          stale,
          new RowReading(servers.mysql()),
          session,
          true,
          page -> {
            page.forEach(row -> rows.add(Row.of(row)));
            return false; // the first page
          });
      return new RowList(rows, stale.count(session));
    }

    private Removed discard(RequestBody body, Visitor visitor) {
      StaleRows stale = servers.stale();
      StaleRows.Session session = named(stale, body);
      audit(visitor, "stale discard", session);
      StaleRows.Outcome outcome =
          StaleSessions.discard(stale, new Discards(servers.mysql()), session);
      if (outcome instanceof StaleRows.OwnsNow) {
        throw new ConflictResponse("kept: the session owns now, and its rows will be flushed");
      }
      return new Removed(
          outcome instanceof StaleRows.Discarded discarded ? discarded.rows().size() : 0);
    }

    private void audit(Visitor visitor, String action, StaleRows.Session session) {
      AuditTable.add(
          servers.mysql(),
          visitor.actor(),
          action,
          session.owner().id(),
          "session " + session.session().text());
    }

    private static StaleRows.Session named(StaleRows stale, RequestBody body) {
      OwnerId owner = OwnerId.of(body.text("owner", MOST_OWNER_CHARS));
      SessionId session = SessionId.parse(body.text("session", MOST_SESSION_CHARS));
      StaleRows.Session found = stale.find(owner, session);
      if (found == null) {
        throw new NotFoundResponse("there are no stale rows of it any more");
      }
      return found;
    }
  }

  /** What waits, what is done, and whether something is to be done about it. Thread-safe. */
  static final class OverviewPage {
    private static final double OF_HUNDRED = 0.99;

    private final WriterConfig settings;
    private final MeterRegistry meters;
    private final Console.WriterView writer;

    OverviewPage(WriterConfig settings, MeterRegistry meters, Console.WriterView writer) {
      this.settings = settings;
      this.meters = meters;
      this.writer = writer;
    }

    /**
     * The page.
     *
     * @param problems why rows are not written now
     * @param toDo what is to be done about the game as a whole
     * @param held why rows wait: what operators paused, and tables that take none
     * @param writers how many run; 0 when it is not known
     * @param rowsPerSecond that all writers write
     * @param waits null before the first look at Redis
     * @param deadLetters -1 when they were not counted yet
     * @param mergeRatio row changes committed for each row written; null when it is not known
     */
    record Overview(
        List<String> problems,
        List<String> toDo,
        List<HeldState> held,
        long writers,
        double rowsPerSecond,
        @Nullable Map<String, @Nullable Object> waits,
        long deadLetters,
        @Nullable Double mergeRatio,
        Totals totals,
        List<Step> steps) {}

    /** Whose console it is. */
    record Of(String namespace, String writer) {}

    /** What this writer did since it started. */
    record Totals(
        double rows,
        double flushes,
        double owners,
        double givenBack,
        double reaped,
        double deadLetters,
        double stale) {}

    /**
     * How long a step took since this writer started, ms.
     *
     * @param mostOf what 99 of 100 took at most, rounded up to the next bound; -1 beyond the last
     */
    record Step(String name, long count, double mean, double mostOf, double longest) {
      static Step of(Timer timer) {
        HistogramSnapshot snapshot = timer.takeSnapshot();
        double mostOf = -1;
        for (CountAtBucket bucket : snapshot.histogramCounts()) {
          if (bucket.count() >= snapshot.count() * OF_HUNDRED) {
            mostOf = bucket.bucket(TimeUnit.MILLISECONDS);
            break;
          }
        }
        return new Step(
            String.valueOf(timer.getId().getTag("step")),
            snapshot.count(),
            snapshot.mean(TimeUnit.MILLISECONDS),
            Double.isFinite(mostOf) ? mostOf : -1,
            snapshot.max(TimeUnit.MILLISECONDS));
      }
    }

    void addTo(GuardedRoutes routes) {
      routes.look("overview", this::overview);
      routes.look("writer", context -> new Of(settings.namespace(), settings.writer().name()));
    }

    private Overview overview(Context context) {
      Backlog backlog = writer.backlog().get();
      Processes processes = writer.processes().get();
      double merges = gauge("gameq.merge.ratio");
      double counted = gauge("gameq.deadletters");
      long deadLetters = Double.isNaN(counted) ? -1 : Math.round(counted);
      return new Overview(
          writer.problems().get(),
          toDo(backlog, deadLetters),
          held(backlog),
          processes == null ? 0 : processes.writersThere(),
          processes == null ? 0 : processes.rowsPerSecond(),
          backlog == null ? null : StatusLook.BACKLOG.json(backlog),
          deadLetters,
          Double.isFinite(merges) ? merges : null,
          totals(),
          meters.find("gameq.writer.step").timers().stream()
              .map(Step::of)
              .sorted(Comparator.comparingLong(Step::count).reversed())
              .toList());
    }

    /** Before the first look there is nothing to say. */
    private List<String> toDo(@Nullable Backlog backlog, long deadLetters) {
      return backlog == null
          ? List.of()
          : new StatusLook(
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

    private List<HeldState> held(@Nullable Backlog backlog) {
      List<HeldState> all =
          new ArrayList<>(HeldState.of(writer.pauses().get().all(), writer.allParked()));
      all.addAll(HeldState.heldUp(backlog));
      return all;
    }

    private Totals totals() {
      var rowsOfFlushes = meters.find("gameq.writer.flush.rows").summary();
      return new Totals(
          count("gameq.writer.rows"),
          rowsOfFlushes == null ? 0 : rowsOfFlushes.count(),
          count("gameq.writer.owners"),
          count("gameq.writer.givenback"),
          count("gameq.writer.reaped"),
          count("gameq.writer.deadletters"),
          count("gameq.writer.stale"));
    }

    /** A counter's value; 0 when there is none. */
    private double count(String name) {
      var counter = meters.find(name).counter();
      return counter == null ? 0 : counter.count();
    }

    /** NaN when there is none, or it is not known. */
    private double gauge(String name) {
      var gauge = meters.find(name).gauge();
      return gauge == null ? Double.NaN : gauge.value();
    }
  }
}

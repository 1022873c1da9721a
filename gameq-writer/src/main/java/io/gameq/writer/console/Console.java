package io.gameq.writer.console;

import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Entry;
import io.gameq.writer.admin.RecordView.Table;
import io.gameq.writer.cli.AuditCommand;
import io.gameq.writer.config.ConfigReader.EffectiveSettings.Setting;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.config.WriterConfig.ConsoleMode;
import io.gameq.writer.pause.Pausing.Pauses;
import io.gameq.writer.setup.ConfigCommand;
import io.gameq.writer.status.Processes;
import io.gameq.writer.status.StatusLook.SlotState;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpStatus;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
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
}

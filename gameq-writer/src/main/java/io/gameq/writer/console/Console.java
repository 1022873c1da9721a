package io.gameq.writer.console;

import io.gameq.agent.AgentRunner;
import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Entry;
import io.gameq.mysql.tables.DeadLetterTable;
import io.gameq.mysql.tables.OwnerSearch;
import io.gameq.mysql.tables.OwnerSearch.Found;
import io.gameq.mysql.tables.PauseTable.Pause;
import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.script.Waiting;
import io.gameq.sign.NodeSign;
import io.gameq.terminal.Shown;
import io.gameq.writer.config.ConfigReader.EffectiveSettings.Setting;
import io.gameq.writer.config.ConfigReader.WriterConfig;
import io.gameq.writer.config.ConsoleMode;
import io.gameq.writer.console.GuardedRoutes.Visitor;
import io.gameq.writer.mysql.ColumnSearch;
import io.gameq.writer.mysql.ColumnSearch.TextColumn;
import io.gameq.writer.pause.PauseWatch.PauseText;
import io.gameq.writer.pause.Pausing;
import io.gameq.writer.pause.Pausing.PauseTarget;
import io.gameq.writer.pause.Pausing.Pauses;
import io.gameq.writer.status.FlushCommand.FlushProgress;
import io.gameq.writer.status.FlushNow;
import io.gameq.writer.status.ListedNode;
import io.gameq.writer.status.Processes;
import io.gameq.writer.status.SlotsCommand.SlotsLook;
import io.gameq.writer.status.WriterSigns.WriterSign;
import io.gameq.writer.status.WritersCommand.ListedWriter;
import io.gameq.writer.trace.OwnerPage;
import io.gameq.writer.trace.RowTrace;
import io.gameq.writer.trace.RowTracing;
import io.gameq.writer.trace.RowTracing.RowPlace;
import io.gameq.writer.trace.Tracing;
import io.gameq.writer.trace.WhatNext;
import io.gameq.writer.trace.WhatNext.OwnerTrace;
import io.javalin.config.RoutesConfig;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.Context;
import io.javalin.http.HttpStatus;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The web pages of a writer, for operators. Thread-safe; what it remembers, the last minutes of its
 * charts, ends with the process.
 */
public final class Console implements AutoCloseable {
  private final WriterConfig settings;
  private final List<Setting> effective;
  private final ConsoleServers servers;
  private final WriterView writer;
  private final Pulse pulse;
  private final AgentRunner beating = new AgentRunner("gameq-console");

  /** The settings in effect. */
  record SettingList(List<Setting> settings) {}

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
    this.pulse = new Pulse(meters, writer);
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
    new OverviewPage(settings, pulse, writer).addTo(guarded);
    new SlotsPage(writer).addTo(guarded);
    new FleetPage(writer.processes()).addTo(guarded);
    new OwnersPage(servers).addTo(guarded);
    new TracePages(servers, writer::allParked).addTo(guarded);
    new HeldPage(servers, writer).addTo(guarded);
    new DeadPages(servers).addTo(guarded);
    new StalePages(servers).addTo(guarded);
    new TopicPages(servers).addTo(guarded);
    guarded.look("settings", context -> new SettingList(effective));
    new AuditPage(servers).addTo(guarded);
    beating.start(pulse.duty());
  }

  @Override
  public void close() {
    beating.closeNow();
    servers.close();
  }

  /** What waits in each slot, and which are paused. Thread-safe. */
  static final class SlotsPage {
    private final Console.WriterView writer;

    SlotsPage(Console.WriterView writer) {
      this.writer = writer;
    }

    /** One slot; {@code pause} is empty when it is not paused. */
    record Slot(Waiting waiting, String pause) {
      static Slot of(SlotsLook.OfSlot slot) {
        Pause pause = slot.pause();
        return new Slot(slot.waiting(), pause == null ? "" : PauseText.why(pause));
      }

      boolean tellsSomething() {
        return waiting.owners()
                    + waiting.stale()
                    + waiting.closing()
                    + waiting.healing()
                    + waiting.foreign()
                > 0
            || !pause.isEmpty();
      }
    }

    /**
     * The page.
     *
     * @param of how many slots there are; 0 before the first look
     * @param slots those with something to tell, in order
     */
    record SlotList(int of, List<Slot> slots) {}

    void addTo(GuardedRoutes routes) {
      routes.look("slots", this::slots);
    }

    private SlotList slots(Context context) {
      Backlog look = writer.backlog().get();
      return look == null
          ? new SlotList(0, List.of())
          : new SlotList(
              look.slots().size(),
              SlotsLook.of(look, writer.pauses().get()).slots().stream()
                  .map(Slot::of)
                  .filter(Slot::tellsSomething)
                  .toList());
    }
  }

  /** What operators did, the newest first. Thread-safe. */
  static final class AuditPage {
    private static final int ENTRIES = 50;

    private final ConsoleServers servers;

    AuditPage(ConsoleServers servers) {
      this.servers = servers;
    }

    /** One line. */
    record Done(
        String id,
        long atMillis,
        String who,
        String via,
        String action,
        String target,
        String detail) {
      static Done of(Entry entry) {
        return new Done(
            Long.toString(entry.id()),
            entry.at().toEpochMilli(),
            entry.actor().who(),
            entry.actor().via(),
            entry.action(),
            entry.target(),
            entry.detail());
      }
    }

    /**
     * The page.
     *
     * @param next goes on where this page ends; empty when it was the last
     */
    record AuditList(List<Done> entries, String next) {}

    void addTo(GuardedRoutes routes) {
      routes.look("audit", this::audit);
    }

    private AuditList audit(Context context) {
      long before = context.queryParamAsClass("before", Long.class).getOrDefault(Long.MAX_VALUE);
      List<Done> entries =
          AuditTable.newest(servers.mysql(), before, ENTRIES).stream().map(Done::of).toList();
      return new AuditList(
          entries, entries.size() < ENTRIES ? "" : entries.get(entries.size() - 1).id());
    }
  }

  /** Finds owners, by their ids or by a text in their rows. Thread-safe. */
  static final class OwnersPage {
    private static final int MOST_OWNERS = 50;
    private static final int MOST_CHARS = 1_000;

    private final ConsoleServers servers;

    OwnersPage(ConsoleServers servers) {
      this.servers = servers;
    }

    /** An owner that was opened at some time. */
    record Owner(String owner, String node, long openedMillis) {
      static Owner of(Found found) {
        return new Owner(found.owner().id(), found.node(), found.openedAt().toEpochMilli());
      }
    }

    /** The first of them; {@code more} when there are others. */
    record OwnerList(List<Owner> owners, boolean more) {}

    /** By which columns rows are found. */
    record Columns(List<TextColumn> columns) {}

    /** Owners of rows that have a text; {@code more} when there may be others. */
    record Having(List<String> owners, boolean more) {}

    void addTo(GuardedRoutes routes) {
      routes.look("owners", this::search);
      routes.look("columns", context -> new Columns(new ColumnSearch(servers.mysql()).columns()));
      routes.values("owners-having", this::having);
    }

    /** Whoever finds a text has seen it: it is in the audit log, without the text. */
    private Having having(RequestBody body, Visitor visitor) {
      String table = body.text("table", MOST_CHARS);
      String column = body.text("column", MOST_CHARS);
      String text = body.text("text", MOST_CHARS);
      boolean isBeginning = body.has("beginning");
      AuditTable.add(
          servers.mysql(),
          visitor.actor(),
          "search values",
          "%s.%s".formatted(table, column),
          isBeginning ? "beginning" : "whole");
      return servers.list(
          () -> {
            ColumnSearch.Owners found =
                new ColumnSearch(servers.mysql())
                    .owners(table, column, text, isBeginning, MOST_OWNERS);
            return new Having(
                found.owners().stream().map(OwnerId::id).sorted(OwnerSearch.BY_NUMBERS).toList(),
                !found.isAll());
          });
    }

    private OwnerList search(Context context) {
      String beginning = Objects.requireNonNullElse(context.queryParam("q"), "").strip();
      List<Owner> owners =
          OwnerSearch.beginningWith(servers.mysql(), beginning, MOST_OWNERS + 1).stream()
              .map(Owner::of)
              .toList();
      return new OwnerList(
          owners.subList(0, Math.min(MOST_OWNERS, owners.size())), owners.size() > MOST_OWNERS);
    }
  }

  /**
   * What is held back: pauses of operators, and tables that take no rows; and what is to be written
   * at once. Thread-safe; what is done is audited by the classes that do it.
   */
  static final class HeldPage {
    /** Whoever gives more is told by the pause itself. */
    private static final int MOST_CHARS = 1_000;

    /** On the first page; all of them are among the dead letters. */
    private static final int MOST_OWNERS = 5;

    private final ConsoleServers servers;
    private final Console.WriterView writer;

    HeldPage(ConsoleServers servers, Console.WriterView writer) {
      this.servers = servers;
      this.writer = writer;
    }

    /** The page. */
    record Held(List<HeldState> states) {}

    /** What is left of what was to be written at once. */
    record Left(boolean isDone, String text) {}

    void addTo(GuardedRoutes routes) {
      routes.look("held", this::held);
      routes.look("held-owners", this::owners);
      routes.act("pause", this::pause);
      routes.act("resume", this::resume);
      routes.act("flush", this::flush);
    }

    private Held held(Context context) {
      return new Held(HeldState.of(writer.pauses().get().all(), writer.allParked()));
    }

    /** Those of the newest dead letters. */
    private Held owners(Context context) {
      return new Held(
          servers.mysql().ask(handle -> DeadLetterTable.newestOwners(handle, MOST_OWNERS)).stream()
              .map(of -> HeldState.ofLetters(of.owner(), of.letters()))
              .toList());
    }

    private Held pause(RequestBody body, Visitor visitor) {
      return held(
          List.of(pausing().pause(visitor.actor(), target(body), body.text("reason", MOST_CHARS))));
    }

    private Held resume(RequestBody body, Visitor visitor) {
      return held(pausing().resume(visitor.actor(), target(body)).stream().toList());
    }

    private static Held held(List<Pause> pauses) {
      return new Held(HeldState.of(pauses, Map.of()));
    }

    private Pausing pausing() {
      return new Pausing(servers.mysql(), servers.slots().count());
    }

    private static PauseTarget target(RequestBody body) {
      String name = Objects.requireNonNullElse(body.optionalText("name", MOST_CHARS), "");
      return PauseTarget.of(body.text("scope", MOST_CHARS), name);
    }

    private Left flush(RequestBody body, Visitor visitor) {
      String owner = body.optionalText("owner", MOST_CHARS);
      FlushNow flush = new FlushNow(servers.mysql(), servers.redis(), servers.slots());
      FlushProgress progress =
          owner == null
              ? flush.all(visitor.actor())
              : flush.owners(visitor.actor(), List.of(OwnerId.of(owner)));
      FlushProgress.Left left = progress.look();
      return new Left(left.isDone(), left.text());
    }
  }

  /** The game's nodes and writers, as they say of themselves. Thread-safe. */
  static final class FleetPage {
    private final Supplier<@Nullable Processes> processes;

    FleetPage(Supplier<@Nullable Processes> processes) {
      this.processes = processes;
    }

    /** A node; {@code toDo} is in one line each. */
    record Node(
        String id,
        long silentMillis,
        String state,
        boolean isThere,
        NodeSign sign,
        List<String> toDo) {
      static Node of(ListedNode node) {
        return new Node(
            node.id(),
            node.silentMillis(),
            node.state().text(),
            node.isThere(),
            node.sign(),
            node.toDo());
      }
    }

    /** A writer. */
    record Writer(
        String id,
        long silentMillis,
        String state,
        boolean isThere,
        WriterSign sign,
        List<String> toDo) {
      static Writer of(ListedWriter writer) {
        return new Writer(
            writer.id(),
            writer.silentMillis(),
            writer.state(),
            !writer.isGone(),
            writer.sign(),
            writer.toDo());
      }
    }

    /** The page; {@code isKnown} is false before the first look. */
    record Fleet(boolean isKnown, long nowMillis, List<Node> nodes, List<Writer> writers) {}

    void addTo(GuardedRoutes routes) {
      routes.look("fleet", this::fleet);
    }

    private Fleet fleet(Context context) {
      Processes look = processes.get();
      long now = System.currentTimeMillis();
      return look == null
          ? new Fleet(false, now, List.of(), List.of())
          : new Fleet(
              true,
              now,
              look.nodes().stream().map(Node::of).toList(),
              look.writers().stream().map(Writer::of).toList());
    }
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

  /** Where an owner or a row is, and what will happen next. Thread-safe. */
  static final class TracePages {
    private static final int MOST_CHARS = 1_000;

    private final ConsoleServers servers;
    private final Supplier<Map<String, String>> parked;

    TracePages(ConsoleServers servers, Supplier<Map<String, String>> parked) {
      this.servers = servers;
      this.parked = parked;
    }

    /** What will happen next; {@code isToAct} when somebody has to do something. */
    record Next(boolean isToAct, String sentence) {
      static Next of(WhatNext next) {
        return new Next(next.kind().isToAct(), next.sentence());
      }
    }

    /** An owner; each line is a name, empty where the one above goes on, and a text. */
    record Owner(
        String owner, int slot, List<List<String>> lines, List<HeldState> held, Next next) {
      static Owner of(OwnerTrace trace) {
        return new Owner(
            trace.owner().id(),
            trace.slot(),
            OwnerPage.lines(trace, List.of()),
            HeldState.of(trace),
            Next.of(WhatNext.of(trace)));
      }
    }

    /** A version of the row in one place; {@code columns} are null while values are hidden. */
    record Place(
        String where,
        String owner,
        String version,
        long committedMillis,
        String op,
        String session,
        String note,
        @Nullable Map<String, String> columns) {
      static Place of(RowPlace place, boolean withValues) {
        return new Place(
            place.where().name().toLowerCase(Locale.ROOT).replace('_', ' '),
            place.owner().id(),
            Long.toUnsignedString(place.version()),
            place.version() == 0 ? 0 : Shown.time(place.version()).toEpochMilli(),
            place.op() == null ? "" : place.op().name().toLowerCase(Locale.ROOT),
            place.session(),
            place.note(),
            withValues && place.image() != null ? place.columns() : null);
      }
    }

    /** A row, and the owners that have, had or wanted it. */
    record Row(
        String row,
        boolean isManaged,
        List<Place> places,
        List<Owner> owners,
        Next next,
        boolean hasValues) {
      static Row of(RowTrace trace, boolean withValues) {
        return new Row(
            trace.rowKey(),
            trace.isManaged(),
            trace.places().stream().map(place -> Place.of(place, withValues)).toList(),
            trace.owners().stream().map(Owner::of).toList(),
            Next.of(trace.next()),
            withValues);
      }
    }

    void addTo(GuardedRoutes routes) {
      routes.look(
          "trace", context -> Owner.of(tracing().owner(OwnerId.of(param(context, "owner")))));
      routes.look(
          "trace-row",
          context ->
              Row.of(row(param(context, "table"), param(context, "key"), owner(context)), false));
      routes.values("trace-row-values", this::values);
    }

    private Row values(RequestBody body, Visitor visitor) {
      String table = body.text("table", MOST_CHARS);
      String key = body.text("key", MOST_CHARS);
      AuditTable.add(
          servers.mysql(), visitor.actor(), "show values", RowTracing.rowKey(table, key), "trace");
      return Row.of(row(table, key, body.optionalText("owner", MOST_CHARS)), true);
    }

    private RowTrace row(String table, String key, @Nullable String owner) {
      List<OwnerId> owners = owner == null ? List.of() : List.of(OwnerId.of(owner));
      return new RowTracing(tracing(), servers.slots(), servers.redis(), servers.mysql())
          .row(table, key, owners, List.of());
    }

    private Tracing tracing() {
      ControlConnection redis = servers.redis();
      return new Tracing(servers.namespace(), servers.slots(), redis, servers::mysql, parked);
    }

    private static String param(Context context, String name) {
      String value = context.queryParam(name);
      if (value == null || value.isBlank()) {
        throw new BadRequestResponse("'%s' is missing".formatted(name));
      }
      return value.strip();
    }

    private static @Nullable String owner(Context context) {
      String owner = context.queryParam("owner");
      return owner == null || owner.isBlank() ? null : owner.strip();
    }
  }
}

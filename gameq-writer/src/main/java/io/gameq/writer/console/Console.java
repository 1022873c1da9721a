package io.gameq.writer.console;

import io.gameq.agent.AgentRunner;
import io.gameq.backlog.Backlog;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.writer.config.ConsoleMode;
import io.gameq.writer.config.EffectiveSettings.Setting;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.console.access.GuardedRoutes;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.process.Processes;
import io.javalin.config.RoutesConfig;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.util.List;
import java.util.Map;
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
}

package io.gameq.writer.status;

import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.PauseTable.Pause;
import io.gameq.mysql.tables.PauseTable.Scope;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.Slots;
import io.gameq.redis.script.Waiting;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.CommandDatabase;
import io.gameq.writer.pause.PauseWatch.PauseText;
import io.gameq.writer.pause.Pausing;
import io.gameq.writer.pause.Pausing.Pauses;
import io.gameq.writer.terminal.JsonLine;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code slots}: what waits in each slot. */
@Command(
    name = "slots",
    description = "Shows what waits in each slot, for how long, and which are paused and why.",
    footer = {
      "",
      "DUE: owners with changes; READY: those next; CLAIMED: those a writer has. OLDEST is, at"
          + " least, how long the oldest row waits. Costs the same with a million rows as with"
          + " none."
    })
public final class SlotsCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Option(names = "--all", description = "Those in which nobody waits, too.")
  private boolean all;

  @Option(names = "--json", description = "One JSON object a slot and line, nothing else.")
  private boolean json;

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    WriterConfig settings = AgreedConfig.readWithRedis(config, Objects.requireNonNull(spec));
    Slots slots = new Slots(settings.namespace(), settings.slots());
    Pauses pauses;
    Set<String> held;
    try (MySql mysql = CommandDatabase.open(settings.mysql(), "slots")) {
      Pausing pausing = new Pausing(mysql, slots.count());
      pauses = pausing.all();
      held = pausing.heldTables(pauses);
    }
    try (RedisConnector connector = new RedisConnector(settings.redis());
        ControlConnection redis = new ControlConnection(connector)) {
      SlotsLook look =
          SlotsLook.of(redis.ask(connection -> Backlog.of(connection, slots, held)), pauses);
      List<SlotsLook.OfSlot> shown =
          look.slots().stream().filter(of -> all || !of.isIdle()).toList();
      if (json) {
        shown.forEach(of -> out.println(json(of)));
      } else {
        print(look, shown, pauses, out);
      }
    }
    return ExitCodes.OK;
  }

  private static void print(
      SlotsLook look, List<SlotsLook.OfSlot> shown, Pauses pauses, PrintWriter out) {
    new TextTable(out, "SLOT", "DUE", "READY", "CLAIMED", "OLDEST", "PAUSED")
        .print(shown.stream().map(SlotsCommand::cells).toList());
    long busy = look.slots().stream().filter(of -> of.waiting().owners() > 0).count();
    long paused = look.slots().stream().filter(of -> of.pause() != null).count();
    out.printf(
        Locale.ROOT,
        "%s with rows, %,d paused, of %,d%n",
        Shown.count(busy, "slot"),
        paused,
        look.slots().size());
    pauses.all().stream()
        .filter(of -> of.scope() == Scope.TABLE || of.scope() == Scope.WRITER)
        .forEach(of -> out.println(PauseText.line(of)));
  }

  private static List<String> cells(SlotsLook.OfSlot of) {
    Waiting waiting = of.waiting();
    Pause pause = of.pause();
    return List.of(
        Integer.toString(waiting.slot()),
        Long.toString(waiting.due()),
        Long.toString(waiting.ready()),
        Long.toString(waiting.claimed()),
        waiting.oldestMillis() == 0 ? "-" : Shown.duration(waiting.oldestAgeMillis()),
        pause == null ? "" : PauseText.why(pause));
  }

  private static String json(SlotsLook.OfSlot of) {
    Waiting waiting = of.waiting();
    Pause pause = of.pause();
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("slot", waiting.slot());
    all.put("due", waiting.due());
    all.put("overdue", waiting.overdue());
    all.put("ready", waiting.ready());
    all.put("claimed", waiting.claimed());
    all.put("lapsed", waiting.lapsed());
    all.put("oldestMillis", waiting.oldestAgeMillis());
    all.put("pause", pause == null ? null : StatusPage.pause(pause));
    return JsonLine.of(all);
  }

  /** What waits in each slot, and whether it is paused; for the console, too. Immutable. */
  public record SlotsLook(List<OfSlot> slots) {
    public SlotsLook {
      slots = List.copyOf(slots);
    }

    /**
     * One slot.
     *
     * @param pause why nothing of it is claimed: of the slot, or of all; null when it is not paused
     */
    public record OfSlot(Waiting waiting, @Nullable Pause pause) {
      /** Whether nobody waits in it and nobody paused it. */
      boolean isIdle() {
        return waiting.owners() == 0 && pause == null;
      }
    }

    /** Every slot, in order. */
    public static SlotsLook of(Backlog backlog, Pauses pauses) {
      return new SlotsLook(
          backlog.slots().stream()
              .map(waiting -> new OfSlot(waiting, pauses.ofSlot(waiting.slot())))
              .toList());
    }
  }
}

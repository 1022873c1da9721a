package io.gameq.writer.status;

import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.backlog.SharedBacklog.TopicBacklog;
import io.gameq.redis.RedisServerCheck.RedisState;
import io.gameq.redis.script.Waiting;
import io.gameq.redis.topic.TopicMessages.TopicCounts;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.flush.WriterStats.BusyOwners;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.status.Processes.NodeStatus;
import io.gameq.writer.status.StatusSnapshot.SlotState;
import io.gameq.writer.terminal.JsonLine;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code status}: what waits, and whether there is something to act on. */
@Command(
    name = "status",
    description =
        "Shows what waits in Redis, for how long, and what is to be done; changes nothing, and"
            + " costs the servers as much with a million rows as with none.",
    footer = {"", "Ends with 1 when there is something to act on, which the last lines name."})
public final class StatusCommand implements Callable<Integer> {
  private static final int MOST_SLOTS = 10;
  private static final String CLEAR_SCREEN = "\033[H\033[2J";

  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Option(names = "--json", description = "One JSON object a line, nothing else; times in UTC.")
  private boolean json;

  @Option(
      names = "--watch",
      paramLabel = "SECONDS",
      arity = "0..1",
      fallbackValue = "2",
      description = "Again every so many seconds (2 without a number), until Ctrl-C.")
  private @Nullable Integer watchSeconds;

  @Override
  public Integer call() throws InterruptedException {
    CommandSpec self = Objects.requireNonNull(spec);
    PrintWriter out = self.commandLine().getOut();
    try (CommandServers servers = new CommandServers(config, self)) {
      StatusSnapshot look = StatusSnapshot.of(servers);
      print(look, out);
      while (watchSeconds != null) {
        TimeUnit.SECONDS.sleep(Math.max(1, watchSeconds));
        look = StatusSnapshot.of(servers);
        print(look, out);
      }
      return look.toDo().isEmpty() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }

  private void print(StatusSnapshot look, PrintWriter out) {
    if (json) {
      out.println(JsonLine.of(StatusSnapshot.VIEW.json(look)));
      return;
    }
    if (watchSeconds != null && Ansi.AUTO.enabled()) {
      out.print(CLEAR_SCREEN);
    }
    screen(look, out);
  }

  private static void screen(StatusSnapshot look, PrintWriter out) {
    out.printf(Locale.ROOT, "%s at %s UTC%n%n", look.namespace(), Shown.utc(look.at()));
    Backlog backlog = look.backlog();
    List<List<String>> lines = new ArrayList<>();
    if (backlog != null) {
      lines.add(List.of("server", redis(backlog.redis())));
      lines.add(List.of("waiting", waiting(backlog)));
      lines.add(List.of("claimed", Shown.count(backlog.sum(Waiting::claimed), "owner")));
      lines.add(List.of("oldest", StatusSnapshot.duration(backlog.oldestAgeMillis())));
      lines.add(List.of("stale", Shown.count(backlog.sum(Waiting::stale), "session")));
    }
    if (look.processes() != null) {
      lines.add(List.of("nodes", nodes(look.processes())));
      lines.add(List.of("writers", writers(look.processes())));
      busiest(look.processes()).forEach(of -> lines.add(List.of("busiest", of)));
    }
    if (look.deadLetters() >= 0) {
      lines.add(List.of("dead", Shown.count(look.deadLetters(), "dead letter")));
    }
    look.pauses()
        .all()
        .forEach(of -> lines.add(List.of("paused", Pauses.what(of) + " " + Pauses.why(of))));
    if (backlog != null) {
      backlog.topics().stream()
          .filter(StatusCommand::isToTell)
          .forEach(of -> lines.add(List.of("topic", topic(of))));
    }
    TextTable.withoutHeadings(out, 2).print(lines);
    if (backlog != null) {
      slots(backlog, out);
    }
    out.println();
    List<String> toDo = look.toDo();
    toDo.forEach(out::println);
    if (toDo.isEmpty()) {
      out.println(
          "all is well" + (look.pauses().all().isEmpty() ? "" : ", but for what is paused"));
    }
    out.flush();
  }

  private static String redis(RedisState redis) {
    return String.format(
        Locale.ROOT,
        "%s, %,.1f MB used, %s, %s, %s",
        redis.version(),
        redis.usedBytes() / 1e6,
        redis.mostBytes() == 0
            ? "no limit"
            : String.format(Locale.ROOT, "limit %,.1f MB", redis.mostBytes() / 1e6),
        redis.policy(),
        Shown.count(redis.replicas(), "replica"));
  }

  private static String waiting(Backlog backlog) {
    return "%s, %s%s"
        .formatted(
            Shown.count(StatusSnapshot.waitingOwners(backlog), "owner"),
            StatusSnapshot.isEstimate(backlog) ? "about " : "",
            Shown.count(backlog.rows(), "row"));
  }

  /** {@code 2 running, 1 gone}. */
  private static String nodes(Processes processes) {
    StringJoiner all = new StringJoiner(", ");
    for (NodeStatus.State state : NodeStatus.State.values()) {
      long nodes = processes.nodes(state);
      if (nodes > 0 || state == NodeStatus.State.RUNNING) {
        all.add(String.format(Locale.ROOT, "%,d %s", nodes, state.text()));
      }
    }
    return all.toString();
  }

  private static String writers(Processes processes) {
    long gone = processes.writers().size() - processes.writersThere();
    return String.format(
        Locale.ROOT,
        "%,d running, %,.0f rows/s%s",
        processes.writersThere(),
        processes.rowsPerSecond(),
        gone == 0 ? "" : String.format(Locale.ROOT, ", %,d gone", gone));
  }

  /** {@code player:387, 1,204 rows in a minute}. */
  private static List<String> busiest(Processes processes) {
    return BusyOwners.together(
            processes.writers().stream()
                .filter(writer -> !writer.isGone())
                .map(writer -> writer.sign().work().busiest())
                .toList())
        .lines()
        .map(line -> line.split(" ", 2))
        .map(of -> "%s, %s in a minute".formatted(Shown.text(of[1]), rows(of[0])))
        .toList();
  }

  private static String rows(String count) {
    return Shown.count(Long.parseLong(count), "row");
  }

  private static boolean isToTell(TopicBacklog of) {
    TopicCounts counts = of.counts();
    return counts.dueLanes() + counts.held() + counts.retrying() + counts.dead() > 0
        || of.isPaused();
  }

  /** {@code mail: 3 due, the oldest for 0.100 s, 1 held, 0 tried again, 2 dead, 7 pending}. */
  private static String topic(TopicBacklog of) {
    TopicCounts counts = of.counts();
    return String.format(
        Locale.ROOT,
        "%s: %,d due%s, %,d held, %,d tried again, %,d dead, %,d pending%s",
        of.topic(),
        counts.dueLanes(),
        of.overdueMillis() == 0 ? "" : ", the oldest for " + Shown.duration(of.overdueMillis()),
        counts.held(),
        counts.retrying(),
        counts.dead(),
        counts.pending(),
        of.isPaused() ? ", paused: see 'gameq-writer topics'" : "");
  }

  private static void slots(Backlog backlog, PrintWriter out) {
    List<SlotState> busy =
        SlotState.of(backlog, Pauses.NONE).stream()
            .filter(of -> of.waiting().owners() > 0)
            .toList();
    if (busy.isEmpty()) {
      return;
    }
    out.println();
    SlotState.WITHOUT_PAUSE
        .printer(out, false)
        .accept(busy.stream().sorted(SlotState.OLDEST_FIRST).limit(MOST_SLOTS).toList());
    out.printf(
        Locale.ROOT,
        "%s with rows, of %,d%n",
        Shown.count(busy.size(), "slot"),
        backlog.slots().size());
  }
}

package io.gameq.writer.status;

import io.gameq.GameQueueException;
import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.backlog.SharedBacklog.TopicBacklog;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.NodeTable;
import io.gameq.redis.RedisServerCheck.RedisState;
import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.redis.script.SlotBacklog;
import io.gameq.redis.topic.TopicMessages.TopicCounts;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.admin.RecordView;
import io.gameq.writer.cli.AdminCommand;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.status.Processes.NodeStatus;
import io.gameq.writer.status.StatusSnapshot.SlotState;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Option;

/** The commands that show what waits and who runs. */
public abstract class StatusCommands extends AdminCommand {

  @Option(names = "--json", description = "One JSON object a line, nothing else; times in UTC.")
  boolean json;

  private StatusCommands() {}

  @Override
  public final Integer call() throws InterruptedException {
    CommandServers servers = servers();
    List<String> toDo = show(servers, out());
    return toDo.isEmpty() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
  }

  /** Prints; returns what there is to act on, each in one line. */
  abstract List<String> show(CommandServers servers, PrintWriter out) throws InterruptedException;

  final <T> List<String> processes(
      RecordView<T> view, List<T> all, String what, List<String> toDo, PrintWriter out) {
    view.printer(out, json).accept(all);
    if (!json) {
      out.println(Shown.count(all.size(), what));
      toDo.forEach(out::println);
    }
    return toDo;
  }

  /** {@code status}: what waits, and whether there is something to act on. */
  @Command(
      name = "status",
      description =
          "Shows what waits in Redis, for how long, and what is to be done; changes nothing, and"
              + " costs the servers as much with a million rows as with none.",
      footer = {"", "Ends with 1 when there is something to act on, which the last lines name."})
  public static final class StatusCommand extends StatusCommands {
    private static final int MOST_SLOTS = 10;
    private static final String CLEAR_SCREEN = "\033[H\033[2J";

    @Option(
        names = "--watch",
        paramLabel = "SECONDS",
        arity = "0..1",
        fallbackValue = "2",
        description = "Again every so many seconds (2 without a number), until Ctrl-C.")
    private @Nullable Integer watchSeconds;

    @Override
    List<String> show(CommandServers servers, PrintWriter out) throws InterruptedException {
      StatusSnapshot look = StatusSnapshot.of(servers);
      print(look, out);
      while (watchSeconds != null) {
        TimeUnit.SECONDS.sleep(Math.max(1, watchSeconds));
        look = StatusSnapshot.of(servers);
        print(look, out);
      }
      return look.toDo();
    }

    private void print(StatusSnapshot look, PrintWriter out) {
      if (json) {
        out.println(RecordView.line(StatusSnapshot.VIEW.json(look)));
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
        lines.add(List.of("claimed", Shown.count(backlog.sum(SlotBacklog::claimed), "owner")));
        lines.add(List.of("oldest", StatusSnapshot.duration(backlog.oldestAgeMillis())));
        lines.add(List.of("stale", Shown.count(backlog.sum(SlotBacklog::stale), "session")));
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
      return Shown.line(
          "%s, %,.1f MB used, %s, %s, %s",
          redis.version(),
          redis.usedBytes() / 1e6,
          redis.mostBytes() == 0
              ? "no limit"
              : Shown.line("limit %,.1f MB", redis.mostBytes() / 1e6),
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
      for (NodeStatus.NodeState state : NodeStatus.NodeState.values()) {
        long nodes = processes.nodes(state);
        if (nodes > 0 || state == NodeStatus.NodeState.RUNNING) {
          all.add(Shown.line("%,d %s", nodes, state.text()));
        }
      }
      return all.toString();
    }

    private static String writers(Processes processes) {
      long gone = processes.writers().size() - processes.writersThere();
      return Shown.line(
          "%,d running, %,.0f rows/s%s",
          processes.writersThere(),
          processes.rowsPerSecond(),
          gone == 0 ? "" : Shown.line(", %,d gone", gone));
    }

    /** {@code player:387, 1,204 rows in a minute}. */
    private static List<String> busiest(Processes processes) {
      return processes
          .busiest()
          .lines()
          .map(line -> line.split(" ", 2))
          .map(
              of ->
                  "%s, %s in a minute"
                      .formatted(Shown.text(of[1]), Shown.count(Long.parseLong(of[0]), "row")))
          .toList();
    }

    private static boolean isToTell(TopicBacklog of) {
      TopicCounts counts = of.counts();
      return counts.dueLanes() + counts.held() + counts.retrying() + counts.dead() > 0
          || of.isPaused();
    }

    /** {@code mail: 3 due, the oldest for 0.100 s, 1 held, 0 tried again, 2 dead, 7 pending}. */
    private static String topic(TopicBacklog of) {
      TopicCounts counts = of.counts();
      return Shown.line(
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
              .sorted(SlotState.OLDEST_FIRST)
              .toList();
      if (!busy.isEmpty()) {
        out.println();
        SlotState.WITHOUT_PAUSE
            .printer(out, false)
            .accept(busy.subList(0, Math.min(MOST_SLOTS, busy.size())));
        out.println(
            Shown.line(
                "%s with rows, of %,d", Shown.count(busy.size(), "slot"), backlog.slots().size()));
      }
    }
  }

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
  public static final class SlotsCommand extends StatusCommands {
    @Option(names = "--all", description = "Those in which nobody waits, too.")
    private boolean all;

    @Override
    List<String> show(CommandServers servers, PrintWriter out) {
      Pauses pauses = Pauses.read(servers.mysql());
      Set<String> held = pauses.heldTables(servers.mysql());
      Backlog backlog = servers.redis().ask(of -> Backlog.of(of, servers.slots(), held));
      List<SlotState> slots = SlotState.of(backlog, pauses);
      SlotState.VIEW
          .printer(out, json)
          .accept(
              slots.stream()
                  .filter(of -> all || of.waiting().owners() > 0 || of.pause() != null)
                  .toList());
      if (!json) {
        out.println(
            Shown.line(
                "%s with rows, %,d paused, of %,d",
                Shown.count(slots.stream().filter(of -> of.waiting().owners() > 0).count(), "slot"),
                slots.stream().filter(of -> of.pause() != null).count(),
                slots.size()));
        pauses.all().stream()
            .filter(of -> of.scope() == Scope.TABLE || of.scope() == Scope.WRITER)
            .forEach(of -> out.println(Pauses.line(of)));
      }
      return List.of();
    }
  }

  /** {@code writers}: the writers, and whether there is something to act on. */
  @Command(
      name = "writers",
      description =
          "Lists writers as they say of themselves every 3 s, also those that ended otherwise than"
              + " in order within the last hour; reads Redis only.",
      footer = {
        "",
        "What a writer that is gone had claimed, others take over; its rows are not lost.",
        "Ends with 1 when there is something to act on, which the last lines name."
      })
  public static final class WritersCommand extends StatusCommands {
    @Override
    List<String> show(CommandServers servers, PrintWriter out) {
      Processes all = servers.redis().ask(of -> Processes.of(of, servers.settings().namespace()));
      List<String> toDo = new ArrayList<>();
      if (all.writersThere() == 0) {
        toDo.add("no writer runs: nothing is written to MySQL");
      }
      all.writers().forEach(writer -> toDo.addAll(writer.toDo()));
      return processes(Processes.WRITERS, all.writers(), "writer", toDo, out);
    }
  }

  /** {@code nodes}: the game nodes, and whether there is something to act on. */
  @Command(
      name = "nodes",
      description =
          "Lists game nodes as they say of themselves every 3 s, also those of the last 7 days that"
              + " ended otherwise than in order, and those that MySQL says were started and Redis"
              + " knows nothing of; changes nothing.",
      footer = {
        "",
        "WAITING are commits that Redis has not answered, JOURNALED those of them that the WAL"
            + " has; OLDEST is how long the oldest change waits that is not known to be in MySQL.",
        "Ends with 1 when there is something to act on, which the last lines name."
      })
  public static final class NodesCommand extends StatusCommands {
    @Option(
        names = "--forget",
        paramLabel = "ID",
        description =
            "Forgets a node that is gone, once 'gameq-recovery verify' over its WAL ended with 0,"
                + " or the WAL is lost. Needs MySQL.")
    private @Nullable String forget;

    @Override
    List<String> show(CommandServers servers, PrintWriter out) {
      String namespace = servers.settings().namespace();
      Processes known = servers.redis().ask(of -> Processes.of(of, namespace));
      List<NodeStatus> nodes = known.with(started(servers)).nodes();
      if (forget != null) {
        forget(servers, nodes, forget);
        return List.of();
      }
      List<String> toDo = nodes.stream().flatMap(node -> node.toDo().stream()).toList();
      return processes(Processes.NODES, nodes, "node", toDo, out);
    }

    /** None while MySQL is away, which was said by then. */
    private static List<NodeTable.Started> started(CommandServers servers) {
      try {
        return new NodeTable(servers.mysql()).all();
      } catch (GameQueueException e) {
        return List.of();
      }
    }

    private static void forget(CommandServers servers, List<NodeStatus> nodes, String id) {
      NodeStatus node =
          nodes.stream()
              .filter(of -> of.id().equals(id))
              .findAny()
              .orElseThrow(
                  () ->
                      new GameQueueException(
                          "no node has the id %s: 'gameq-writer nodes' lists them".formatted(id)));
      if (node.isThere()) {
        throw new GameQueueException("node %s runs, and will say so again".formatted(id));
      }
      AuditTable.add(
          servers.mysql(),
          Actor.here(),
          "forget node",
          "%s %s".formatted(node.sign().process().name(), id),
          "WAL " + node.sign().wal().walDirectory());
      boolean unused = new NodeTable(servers.mysql()).remove(id);
      ProcessSigns signs = new ProcessSigns(servers.settings().namespace());
      boolean unusedSign = servers.redis().call(of -> signs.forget(of, id));
    }
  }
}

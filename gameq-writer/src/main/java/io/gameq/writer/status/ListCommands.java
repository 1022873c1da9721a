package io.gameq.writer.status;

import io.gameq.GameQueueException;
import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.NodeTable;
import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.redis.script.Waiting;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.RecordView;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.status.Processes.NodeStatus;
import io.gameq.writer.status.StatusSnapshot.SlotState;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The commands that list slots, nodes and writers. */
public abstract class ListCommands implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Option(names = "--json", description = "One JSON object a line, nothing else; times in UTC.")
  private boolean json;

  private ListCommands() {}

  @Override
  public final Integer call() {
    CommandSpec self = Objects.requireNonNull(spec);
    try (CommandServers servers = new CommandServers(config, self)) {
      return list(servers, self.commandLine().getOut());
    }
  }

  abstract int list(CommandServers servers, PrintWriter out);

  final <T> void print(RecordView<T> view, List<T> all, PrintWriter out, Runnable summary) {
    view.printer(out, json).accept(all);
    if (!json) {
      summary.run();
    }
  }

  final <T> int processes(
      RecordView<T> view, List<T> all, String what, List<String> toDo, PrintWriter out) {
    print(
        view,
        all,
        out,
        () -> {
          out.println(Shown.count(all.size(), what));
          toDo.forEach(out::println);
        });
    return toDo.isEmpty() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
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
  public static final class SlotsCommand extends ListCommands {
    @Option(names = "--all", description = "Those in which nobody waits, too.")
    private boolean all;

    @Override
    int list(CommandServers servers, PrintWriter out) {
      Pauses pauses = Pauses.read(servers.mysql());
      Set<String> held = pauses.heldTables(servers.mysql());
      Backlog backlog = servers.redis().ask(of -> Backlog.of(of, servers.slots(), held));
      List<SlotState> slots = SlotState.of(backlog, pauses);
      print(
          SlotState.VIEW,
          slots.stream()
              .filter(of -> all || of.waiting().owners() > 0 || of.pause() != null)
              .toList(),
          out,
          () -> {
            out.printf(
                Locale.ROOT,
                "%s with rows, %,d paused, of %,d%n",
                Shown.count(
                    backlog.slots().stream().mapToLong(Waiting::owners).filter(n -> n > 0).count(),
                    "slot"),
                slots.stream().filter(of -> of.pause() != null).count(),
                slots.size());
            pauses.all().stream()
                .filter(of -> of.scope() == Scope.TABLE || of.scope() == Scope.WRITER)
                .forEach(of -> out.println(Pauses.line(of)));
          });
      return ExitCodes.OK;
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
  public static final class WritersCommand extends ListCommands {
    @Override
    int list(CommandServers servers, PrintWriter out) {
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
  public static final class NodesCommand extends ListCommands {
    @Option(
        names = "--forget",
        paramLabel = "ID",
        description =
            "Lists a node no more that is gone, once its WAL has been seen to; needs MySQL, where"
                + " it is noted.")
    private @Nullable String forget;

    @Override
    int list(CommandServers servers, PrintWriter out) {
      List<NodeStatus> nodes =
          servers
              .redis()
              .ask(of -> Processes.of(of, servers.settings().namespace()))
              .with(started(servers))
              .nodes();
      if (forget != null) {
        forget(servers, find(nodes, forget));
        return ExitCodes.OK;
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

    private static NodeStatus find(List<NodeStatus> nodes, String id) {
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
      return node;
    }

    private static void forget(CommandServers servers, NodeStatus node) {
      AuditTable.add(
          servers.mysql(),
          Actor.here(),
          "forget node",
          "%s %s".formatted(node.sign().process().name(), node.id()),
          "WAL " + node.sign().wal().walDirectory());
      boolean unused = new NodeTable(servers.mysql()).remove(node.id());
      ProcessSigns signs = new ProcessSigns(servers.settings().namespace());
      boolean unusedSign = servers.redis().call(of -> signs.forget(of, node.id()));
    }
  }
}

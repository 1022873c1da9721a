package io.gameq.writer.status;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.NodeTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.script.ProcessSigns;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.ConfigReader.WriterConfig;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.CommandDatabase;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code nodes}: the game nodes, and whether there is something to act on. */
@Command(
    name = "nodes",
    description =
        "Lists game nodes as they say of themselves every 3 s, also those of the last 7 days that"
            + " ended otherwise than in order, and those that MySQL says were started and Redis"
            + " knows nothing of; changes nothing.",
    footer = {
      "",
      "WAITING are commits that Redis has not answered, JOURNALED those of them that the WAL has;"
          + " OLDEST is how long the oldest change waits that is not known to be in MySQL.",
      "Ends with 1 when there is something to act on, which the last lines name."
    })
public final class NodesCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Option(names = "--json", description = "One JSON object a line, nothing else; times in UTC.")
  private boolean json;

  @Option(
      names = "--forget",
      paramLabel = "ID",
      description =
          "Lists a node no more that is gone, once its WAL has been seen to; needs MySQL, where it"
              + " is noted.")
  private @Nullable String forget;

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    WriterConfig settings = AgreedConfig.readWithRedis(config, Objects.requireNonNull(spec));
    try (RedisConnector connector = new RedisConnector(settings.redis());
        ControlConnection redis = new ControlConnection(connector)) {
      List<ListedNode> nodes =
          redis
              .ask(connection -> Processes.of(connection, settings.namespace()))
              .with(started(settings))
              .nodes();
      if (forget != null) {
        forget(settings, redis, find(nodes, forget));
        return ExitCodes.OK;
      }
      List<String> toDo = nodes.stream().flatMap(node -> node.toDo().stream()).toList();
      if (json) {
        nodes.forEach(node -> out.println(NodesPage.json(node)));
      } else {
        NodesPage.print(nodes, out);
        toDo.forEach(out::println);
      }
      return toDo.isEmpty() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }

  /** None while MySQL is away, which was said by then. */
  private static List<NodeTable.Started> started(WriterConfig settings) {
    try (MySql mysql = CommandDatabase.open(settings.mysql(), "nodes")) {
      return new NodeTable(mysql).all();
    } catch (GameQueueException e) {
      return List.of();
    }
  }

  private static ListedNode find(List<ListedNode> nodes, String id) {
    ListedNode node =
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

  private static void forget(WriterConfig settings, ControlConnection redis, ListedNode node) {
    try (MySql mysql = CommandDatabase.open(settings.mysql(), "nodes")) {
      AuditTable.add(
          mysql,
          Actor.here(),
          "forget node",
          "%s %s".formatted(node.sign().process().name(), node.id()),
          "WAL " + node.sign().wal().walDirectory());
      boolean unused = new NodeTable(mysql).remove(node.id());
    }
    ProcessSigns signs = new ProcessSigns(settings.namespace());
    boolean unused = redis.call(connection -> signs.forget(connection, node.id()));
  }
}

package io.gameq.writer.status;

import io.gameq.GameQueueException;
import io.gameq.backlog.SharedBacklog.Backlog;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.NodeTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.Slots;
import io.gameq.terminal.ErrorLine;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.ConfigReader.WriterConfig;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.CommandDatabase;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.pause.Pausing;
import io.gameq.writer.pause.Pausing.Pauses;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
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
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    WriterConfig settings = AgreedConfig.readWithRedis(config, Objects.requireNonNull(spec));
    Slots slots = new Slots(settings.namespace(), settings.slots());
    try (RedisConnector connector = new RedisConnector(settings.redis());
        ControlConnection redis = new ControlConnection(connector)) {
      StatusLook look = look(settings, redis, slots);
      print(look, out);
      while (watchSeconds != null) {
        TimeUnit.SECONDS.sleep(Math.max(1, watchSeconds));
        look = look(settings, redis, slots);
        print(look, out);
      }
      return look.toDo().isEmpty() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }

  private void print(StatusLook look, PrintWriter out) {
    if (json) {
      out.println(StatusPage.json(look));
      return;
    }
    if (watchSeconds != null && Ansi.AUTO.enabled()) {
      out.print(CLEAR_SCREEN);
    }
    StatusPage.print(look, out);
  }

  /** A server that does not answer is something to show. */
  private static StatusLook look(WriterConfig settings, ControlConnection redis, Slots slots) {
    long deadLetters = -1;
    String mysqlError = "";
    Pauses pauses = Pauses.NONE;
    Set<String> held = Set.of();
    List<NodeTable.Started> started = List.of();
    try (MySql mysql = CommandDatabase.open(settings.mysql(), "status")) {
      deadLetters = DeadLetters.count(mysql);
      Pausing pausing = new Pausing(mysql, slots.count());
      pauses = pausing.all();
      held = pausing.heldTables(pauses);
      started = new NodeTable(mysql).all();
    } catch (GameQueueException e) {
      mysqlError = ErrorLine.of(e);
    }
    Backlog backlog = null;
    Processes processes = null;
    String redisError = "";
    Set<String> paused = held;
    try {
      backlog = redis.ask(connection -> Backlog.of(connection, slots, paused));
      processes =
          redis.ask(connection -> Processes.of(connection, settings.namespace())).with(started);
    } catch (GameQueueException e) {
      redisError = ErrorLine.of(e);
    }
    return new StatusLook(
        settings.namespace(),
        Instant.now(),
        backlog,
        redisError,
        processes,
        deadLetters,
        mysqlError,
        pauses);
  }
}

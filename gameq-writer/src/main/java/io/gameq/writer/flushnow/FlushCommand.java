package io.gameq.writer.flushnow;

import io.gameq.mysql.MySql;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.owner.OwnerId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.Slots;
import io.gameq.redis.script.WaitingOwners.Unwritten;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.CommandDatabase;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.pause.Pausing;
import io.gameq.writer.process.Processes;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code flush}: has rows written now. */
@Command(
    name = "flush",
    description =
        "Has writers write what waits now, instead of at the end of its merge window; before"
            + " maintenance, say.",
    footer = {
      "",
      "With --wait it ends with 0 when all that was there when it began is in MySQL or set aside as"
          + " a dead letter, and with 1 when it is not in time: then it says what waits, and why as"
          + " far as that can be seen. What is paused is not written."
    })
public final class FlushCommand implements Callable<Integer> {
  private static final long LOOK_EVERY_MILLIS = 200;

  /** Where no line can be written over. */
  private static final long TELL_EVERY_SECONDS = 10;

  private static final int MOST_SECONDS = 86_400; // whoever waits for a day has forgotten it

  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Parameters(
      arity = "0..*",
      paramLabel = "OWNER",
      description = "Owners, as the game writes them: player:42; or give --all.")
  private List<String> owners = new ArrayList<>();

  @Option(names = "--all", description = "What all owners have.")
  private boolean all;

  @Option(names = "--wait", description = "Wait until it is written, and show how far it is.")
  private boolean wait;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "300",
      description = "With --wait, for at most so long (default: ${DEFAULT-VALUE}).")
  private int timeoutSeconds = 300;

  @Override
  public Integer call() throws InterruptedException {
    CommandSpec self = Objects.requireNonNull(spec);
    if (owners.isEmpty() != all) {
      throw new CommandLine.ParameterException(self.commandLine(), "give owners, or --all");
    }
    if (timeoutSeconds < 1 || timeoutSeconds > MOST_SECONDS) {
      throw new CommandLine.ParameterException(
          self.commandLine(), "--timeout takes 1 to %s seconds".formatted(MOST_SECONDS));
    }
    List<OwnerId> ids = owners.stream().distinct().map(OwnerId::of).toList();
    PrintWriter out = self.commandLine().getOut();
    WriterConfig settings = AgreedConfig.readWithRedis(config, Objects.requireNonNull(spec));
    Slots slots = new Slots(settings.namespace(), settings.slots());
    try (MySql mysql = CommandDatabase.open(settings.mysql(), "flush");
        RedisConnector connector = new RedisConnector(settings.redis());
        ControlConnection redis = new ControlConnection(connector)) {
      FlushNow flush = new FlushNow(mysql, redis, slots);
      long began = System.nanoTime();
      FlushProgress progress = all ? flush.all(Actor.here()) : flush.owners(Actor.here(), ids);
      FlushProgress.Left left = progress.look();
      if (left.isDone()) {
        out.println(all ? "nothing waits" : names(ids) + ": nothing waits");
        return ExitCodes.OK;
      }
      out.println("due now: " + (all ? "what all owners have" : left.text()));
      if (!wait) {
        return ExitCodes.OK;
      }
      left = await(progress, left, out);
      if (left.isDone()) {
        out.printf(
            Locale.ROOT, "all of it is written, after %.1f s%n", (System.nanoTime() - began) / 1e9);
        return ExitCodes.OK;
      }
      out.printf(Locale.ROOT, "not written within %d s: %s%n", timeoutSeconds, left.text());
      why(mysql, redis, settings, progress.some()).forEach(out::println);
      return ExitCodes.FOUND_SOMETHING;
    }
  }

  private static String names(List<OwnerId> owners) {
    return owners.stream().map(of -> Shown.text(of.id())).collect(Collectors.joining(", "));
  }

  private FlushProgress.Left await(
      FlushProgress progress, FlushProgress.Left first, PrintWriter out)
      throws InterruptedException {
    boolean isTerminal = Ansi.AUTO.enabled();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
    long tellNanos = System.nanoTime();
    FlushProgress.Left left = first;
    while (!left.isDone() && System.nanoTime() - deadline < 0) {
      TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
      left = progress.look();
      if (isTerminal) {
        out.print("\r\033[K" + left.text());
        out.flush();
      } else if (System.nanoTime() - tellNanos > TimeUnit.SECONDS.toNanos(TELL_EVERY_SECONDS)) {
        out.println(left.text());
        tellNanos = System.nanoTime();
      }
    }
    if (isTerminal) {
      out.print("\r\033[K");
    }
    return left;
  }

  private static List<String> why(
      MySql mysql, ControlConnection redis, WriterConfig settings, List<Unwritten> some) {
    Pausing pausing = new Pausing(mysql, settings.slots());
    Pauses pauses = pausing.all();
    boolean hasRoom = DeadLetters.count(mysql) < settings.writer().deadLetters();
    Processes processes = redis.ask(of -> Processes.of(of, settings.namespace()));
    return new WhyWaiting(pauses, pausing.heldTables(pauses), settings.slots(), hasRoom, processes)
        .of(some);
  }
}

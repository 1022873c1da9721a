package io.gameq.writer.reslot;

import io.gameq.GameQueueException;
import io.gameq.mysql.MySql;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.TermTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnector;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.config.WriterConfig;
import io.gameq.writer.mysql.CommandDatabase;
import io.gameq.writer.reslot.Reslotting.Done;
import io.gameq.writer.terminal.Confirmation;
import io.gameq.writer.terminal.RateOption;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code reslot}: another number of slots. */
@Command(
    name = "reslot",
    description =
        "Gives the database another number of slots, while no node and no writer runs and Redis has"
            + " no rows; refuses otherwise, and says what stands against it.",
    footer = {
      "",
      "Afterwards set the new number as 'slots' in gameq.yaml of all writers and in the"
          + " configuration of all nodes, and start them. When it was cut short, run it again."
    })
public final class ReslotCommand implements Callable<Integer> {
  private static final int MOST_SLOTS = 1_024;

  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();
  @Mixin private Confirmation confirmation = new Confirmation();
  @Mixin private RateOption rate = new RateOption();

  @Parameters(paramLabel = "SLOTS", description = "A power of two, from 1 to 1024.")
  private int slots;

  @Option(names = "--dry-run", description = "Only say whether it could be done now.")
  private boolean dryRun;

  @Option(
      names = "--end-sessions",
      description =
          "End sessions that were not closed. Should a node of one come back, what only its WAL has"
              + " is reported as a conflict.")
  private boolean endsSessions;

  @Override
  public Integer call() throws InterruptedException {
    if (slots < 1 || slots > MOST_SLOTS || Integer.bitCount(slots) != 1) {
      throw new GameQueueException("slots is a power of two, from 1 to " + MOST_SLOTS);
    }
    CommandSpec self = Objects.requireNonNull(spec);
    PrintWriter out = self.commandLine().getOut();
    WriterConfig settings = config.read();
    try (MySql mysql = CommandDatabase.open(settings.mysql(), "reslot");
        RedisConnector connector = new RedisConnector(settings.redis());
        ControlConnection redis =
            new ControlConnection(new PrimaryConnector(connector, new TermTable(mysql)))) {
      Reslotting reslotting =
          new Reslotting(
              settings.namespace(),
              redis,
              mysql,
              Reslotting.LIFE,
              () -> rate.scan(self.commandLine().getErr()));
      int from = reslotting.slots();
      if (from != settings.slots() && from != slots) {
        throw new GameQueueException(
            "gameq.yaml has %s slots, the database has %s: is it the right file?"
                .formatted(settings.slots(), from));
      }
      List<String> obstacles = reslotting.obstacles(endsSessions);
      obstacles.forEach(out::println);
      if (!obstacles.isEmpty()) {
        out.println("nothing was changed: the database has %s slots".formatted(from));
        return ExitCodes.FOUND_SOMETHING;
      }
      if (dryRun) {
        out.println("nothing stands against it: from %s slots to %s".formatted(from, slots));
        return ExitCodes.OK;
      }
      confirmation.require("Change %s slots to %s?".formatted(from, slots));
      Done done =
          reslotting.run(
              slots,
              endsSessions,
              Actor.here(),
              text -> {
                out.println(text);
                out.flush();
              });
      print(done, out);
      return ExitCodes.OK;
    }
  }

  private static void print(Done done, PrintWriter out) {
    out.println(
        "%s moved, %s ended that were not closed"
            .formatted(
                Shown.count(done.moved(), "closed session"), Shown.count(done.ended(), "session")));
    if (done.left().count() > 0) {
      out.println(
          "left where they are: %s (%s)"
              .formatted(Shown.count(done.left().count(), "key"), done.left()));
    }
    out.println(
        ("set slots to %s in gameq.yaml of all writers and in the configuration of all"
                    + " nodes, then")
                .formatted(done.to())
            + " start them");
  }
}

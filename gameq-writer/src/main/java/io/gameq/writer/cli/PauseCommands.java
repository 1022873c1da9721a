package io.gameq.writer.cli;

import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.mysql.PauseTable.WriterPause;
import io.gameq.writer.pause.Pauses;
import io.gameq.writer.pause.Pauses.PauseTarget;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code pause} and {@code resume}. */
public abstract class PauseCommands extends AdminCommand {
  @Parameters(
      index = "0",
      paramLabel = "all|slot|table|writer",
      description = "What to ${COMMAND-NAME}.")
  private String scope = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "NAME",
      description = "A slot's number, a table or a writer; none for all.")
  private String name = "";

  private PauseCommands() {}

  @Override
  public final Integer call() {
    PauseTarget target = PauseTarget.of(scope, name);
    CommandServers servers = servers();
    return run(servers.mysql(), servers.settings().slots(), target, out());
  }

  abstract int run(MySql mysql, int slots, PauseTarget target, PrintWriter out);

  /** {@code pause}: writers leave something alone until it is resumed. */
  @Command(
      name = "pause",
      description = "Has writers leave something alone: its rows wait in Redis until 'resume'.",
      footer = {
        "",
        "  pause all              no writer claims anything",
        "  pause slot 3           nothing of a slot is claimed",
        "  pause table item       its rows stay in Redis, others of their owners go on;",
        "                         tables that refer to it wait with it",
        "  pause writer writer-1  that writer is quiet: it claims nothing, and runs on",
        "",
        "Takes effect within about a second. What is claimed by then is finished. Redis' memory"
            + " grows with the rows that wait: 'status' shows it, and who paused what."
      })
  public static final class PauseCommand extends PauseCommands {
    @Option(
        names = "--reason",
        required = true,
        paramLabel = "TEXT",
        description = "Why; shown by 'status' until it is resumed. 255 characters at most.")
    private String reason = "";

    @Override
    int run(MySql mysql, int slots, PauseTarget target, PrintWriter out) {
      WriterPause pause = target.pause(mysql, slots, actor(), reason);
      out.println(Pauses.line(pause));
      if (pause.scope() == Scope.TABLE) {
        Set<String> more = new TreeSet<>(new Pauses(List.of(pause)).heldTables(mysql));
        more.remove(pause.name());
        for (String table : more) {
          out.println("table %s waits with it: it refers to it".formatted(Shown.text(table)));
        }
      }
      out.println("writers follow within about a second; 'resume %s' ends it".formatted(target));
      return ExitCodes.OK;
    }
  }

  /** {@code resume}: ends a pause. */
  @Command(
      name = "resume",
      description = "Ends a pause: writers go on with what waits, within about a second.",
      footer = {
        "",
        "Ends the pause that is named and no other: 'resume all' ends 'pause all', and what was"
            + " paused by itself stays paused. Ends with 1 when it was not paused."
      })
  public static final class ResumeCommand extends PauseCommands {
    @Override
    int run(MySql mysql, int slots, PauseTarget target, PrintWriter out) {
      Optional<WriterPause> ended = target.resume(mysql, actor());
      out.println(
          ended.isPresent()
              ? "resumed %s, which was paused %s"
                  .formatted(Pauses.what(ended.get()), Pauses.why(ended.get()))
              : "%s was not paused: nothing was done".formatted(Shown.text(target.toString())));
      Pauses.read(mysql).all().forEach(pause -> out.println("still: " + Pauses.line(pause)));
      return ended.isPresent() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }
}

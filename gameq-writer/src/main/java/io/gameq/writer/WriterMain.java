package io.gameq.writer;

import io.gameq.sign.Protocol;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.TextTable.TerminalWriter;
import io.gameq.writer.cli.AuditCommand;
import io.gameq.writer.cli.DeadCommand;
import io.gameq.writer.cli.OwnerCommands.EraseCommand;
import io.gameq.writer.cli.OwnerCommands.ExportCommand;
import io.gameq.writer.cli.PauseCommands.PauseCommand;
import io.gameq.writer.cli.PauseCommands.ResumeCommand;
import io.gameq.writer.cli.StaleCommand;
import io.gameq.writer.cli.TopicsCommand;
import io.gameq.writer.doctor.DoctorCommand;
import io.gameq.writer.doctor.ReslotCommand;
import io.gameq.writer.schema.SchemaCommand;
import io.gameq.writer.service.RunCommand;
import io.gameq.writer.setup.ConfigCommand;
import io.gameq.writer.setup.ProtocolCommand;
import io.gameq.writer.setup.SecurityCommand;
import io.gameq.writer.setup.TermCommand;
import io.gameq.writer.socket.CommandClient;
import io.gameq.writer.status.FlushCommand;
import io.gameq.writer.status.StatusCommands.NodesCommand;
import io.gameq.writer.status.StatusCommands.SlotsCommand;
import io.gameq.writer.status.StatusCommands.StatusCommand;
import io.gameq.writer.status.StatusCommands.WritersCommand;
import io.gameq.writer.terminal.TopCommand;
import io.gameq.writer.terminal.TopCommand.CompletionCommand;
import io.gameq.writer.trace.TraceCommand;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.ScopeType;

/**
 * The command line: {@code gameq-writer <command>}. A further command is one more class in its
 * constructor. Used by the main thread.
 *
 * <p>Exit codes: 0 all is well, 1 the command ran and found something to act on, 2 it was called
 * wrongly or could not run.
 */
@Command(
    name = "gameq-writer",
    description =
        "Carries committed rows from Redis into MySQL, prepares the schema for that, and shows the"
            + " rows that did not get there.",
    mixinStandardHelpOptions = true,
    version = "gameq-writer " + Protocol.RELEASE,
    scope = ScopeType.INHERIT,
    exitCodeOnInvalidInput = ExitCodes.COULD_NOT_RUN,
    exitCodeOnExecutionException = ExitCodes.COULD_NOT_RUN,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all is well",
      "1:the command found something to act on, such as a table that cannot be managed",
      "2:wrong usage, or the command could not run"
    })
public final class WriterMain extends TopCommand {
  private WriterMain() {
    super(
        RunCommand.class,
        StatusCommand.class,
        SlotsCommand.class,
        FlushCommand.class,
        PauseCommand.class,
        ResumeCommand.class,
        TraceCommand.class,
        NodesCommand.class,
        WritersCommand.class,
        DoctorCommand.class,
        ReslotCommand.class,
        SchemaCommand.class,
        SecurityCommand.class,
        DeadCommand.class,
        StaleCommand.class,
        TopicsCommand.class,
        ExportCommand.class,
        EraseCommand.class,
        TermCommand.class,
        ProtocolCommand.class,
        AuditCommand.class,
        ConfigCommand.class,
        CompletionCommand.class);
  }

  public static void main(String[] args) {
    int exitCode = CommandClient.run(System.out, System.err, TerminalWriter.ownColumns(), args);
    if (exitCode != CommandClient.NOT_SERVED) {
      System.exit(exitCode);
    }
    new WriterMain().executeAndExit(args);
  }

  /** Runs one command line and returns its exit code; does not end the JVM. */
  public static int run(PrintWriter out, PrintWriter err, String... args) {
    return new WriterMain().execute(out, err, args);
  }
}

package io.gameq.recovery;

import io.gameq.sign.Protocol;
import io.gameq.terminal.ErrorLine;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.TextTable.TerminalWriter;
import java.io.PrintWriter;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The command line: {@code gameq-recovery <command>}. Used by the main thread. */
@Command(
    name = "gameq-recovery",
    description =
        "What the engineer on call runs after a failover: finds in the write-ahead logs (WALs) of"
            + " game nodes what neither Redis nor MySQL holds, and puts it back.",
    mixinStandardHelpOptions = true,
    version = "gameq-recovery " + Protocol.RELEASE,
    scope = ScopeType.INHERIT,
    subcommands = {
      InspectCommand.class,
      PlanCommand.class,
      ReplayCommand.class,
      VerifyCommand.class
    },
    exitCodeOnInvalidInput = ExitCodes.COULD_NOT_RUN,
    exitCodeOnExecutionException = ExitCodes.COULD_NOT_RUN,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:clean; of verify: every row is in MySQL, its WALs may be removed",
      "1:differences, damage, or something left to act on",
      "2:wrong usage, or the command could not run",
      "3:only of verify: nothing is left to act on, but keep the WALs: rows that only Redis holds,"
          + " or a node that is alive and writes on"
    })
public final class RecoveryMain implements ServerOptions.Environment {
  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Print the stack trace of an error.")
  private boolean verbose;

  private final UnaryOperator<@Nullable String> environment;

  private RecoveryMain(UnaryOperator<@Nullable String> environment) {
    this.environment = environment;
  }

  @Override
  public @Nullable String variable(String name) {
    return environment.apply(name);
  }

  public static void main(String[] args) {
    System.exit(
        run(TerminalWriter.of(System.out), TerminalWriter.of(System.err), System::getenv, args));
  }

  /** Runs one command line and returns its exit code; does not end the JVM. */
  static int run(
      PrintWriter out,
      PrintWriter err,
      UnaryOperator<@Nullable String> environment,
      String... args) {
    RecoveryMain main = new RecoveryMain(environment);
    return new CommandLine(main)
        .setOut(out)
        .setErr(err)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(
            (error, command, parsed) -> {
              command
                  .getErr()
                  .println(command.getCommandSpec().qualifiedName() + ": " + ErrorLine.of(error));
              if (main.verbose) {
                error.printStackTrace(command.getErr());
              }
              return ExitCodes.COULD_NOT_RUN;
            })
        .execute(args);
  }
}

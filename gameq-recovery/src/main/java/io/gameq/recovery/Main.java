package io.gameq.recovery;

import io.gameq.GameQueueException;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ScopeType;

/** The command line: {@code gameq-recovery <command>}. Used by the main thread. */
@Command(
    name = "gameq-recovery",
    description = "Reads write-ahead logs (WALs) of game nodes.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    scope = ScopeType.INHERIT,
    subcommands = InspectCommand.class,
    exitCodeOnInvalidInput = Main.COULD_NOT_RUN,
    exitCodeOnExecutionException = Main.COULD_NOT_RUN,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:clean", "1:a WAL is damaged", "2:wrong usage, or the command could not run"})
public final class Main {
  static final int CLEAN = 0;
  static final int FOUND_SOMETHING = 1;
  static final int COULD_NOT_RUN = 2;

  private Main() {}

  public static void main(String[] args) {
    System.exit(
        run(
            new PrintWriter(System.out, true, Charset.defaultCharset()),
            new PrintWriter(System.err, true, Charset.defaultCharset()),
            args));
  }

  /** Runs one command line and returns its exit code; does not end the JVM. */
  static int run(PrintWriter out, PrintWriter err, String... args) {
    return new CommandLine(new Main())
        .setOut(out)
        .setErr(err)
        .setExecutionExceptionHandler(
            (error, command, parsed) -> {
              command
                  .getErr()
                  .println(
                      command.getCommandSpec().qualifiedName()
                          + ": "
                          + (error instanceof GameQueueException ? error.getMessage() : error));
              return COULD_NOT_RUN;
            })
        .execute(args);
  }

  /** The version in the jar's manifest. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"gameq-recovery " + (version == null ? "(not packaged)" : version)};
    }
  }
}

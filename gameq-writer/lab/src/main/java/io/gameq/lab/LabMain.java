package io.gameq.lab;

import io.gameq.lab.bench.BenchCommand;
import io.gameq.lab.compare.CompareCommand;
import io.gameq.lab.demo.DemoCommand;
import io.gameq.sign.Protocol;
import io.gameq.terminal.ExitCodes;
import io.gameq.writer.terminal.TopCommand;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ScopeType;

/**
 * The command line: {@code gameq-lab <command>}. A further command is one more class in {@code
 * subcommands}. Used by the main thread.
 *
 * <p>Exit codes: 0 all is well, 1 the command ran and found something to act on, 2 it was called
 * wrongly or could not run.
 */
@Command(
    name = "gameq-lab",
    description =
        "Shows and measures gameq: a demo game that is verified row by row, a benchmark, and a"
            + " comparison with other libraries; on embedded servers or on yours.",
    mixinStandardHelpOptions = true,
    versionProvider = LabMain.Version.class,
    scope = ScopeType.INHERIT,
    subcommands = {DemoCommand.class, BenchCommand.class, CompareCommand.class},
    exitCodeOnInvalidInput = ExitCodes.COULD_NOT_RUN,
    exitCodeOnExecutionException = ExitCodes.COULD_NOT_RUN,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all is well",
      "1:the command found something to act on, such as a row that differs",
      "2:wrong usage, or the command could not run"
    })
public final class LabMain extends TopCommand {
  private LabMain() {}

  public static void main(String[] args) {
    new LabMain().executeAndExit(args);
  }

  /** Runs one command line and returns its exit code; does not end the JVM. */
  public static int run(PrintWriter out, PrintWriter err, String... args) {
    return new LabMain().execute(out, err, args);
  }

  /** The version in the jar's manifest. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"gameq-lab " + Protocol.RELEASE};
    }
  }
}

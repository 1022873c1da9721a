package io.gameq.writer.cli;

import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.writer.terminal.TopCommand;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** A command whose methods are its subcommands. Used by one thread. */
public abstract class AdminCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  /** Without a subcommand there is nothing to do. */
  @Override
  public Integer call() {
    throw wrong("missing command: " + String.join(", ", spec().subcommands().keySet()));
  }

  /** The command. */
  protected final CommandSpec spec() {
    return Objects.requireNonNull(spec);
  }

  /** Its stdout. */
  protected final PrintWriter out() {
    return spec().commandLine().getOut();
  }

  /** Its stderr. */
  protected final PrintWriter err() {
    return spec().commandLine().getErr();
  }

  /** Who is named in the audit log. */
  protected final Actor actor() {
    return TopCommand.actor(spec());
  }

  /** Wrong usage of the subcommand that was called. */
  protected final ParameterException wrong(String problem) {
    ParseResult called = spec().commandLine().getParseResult();
    CommandLine command =
        called.hasSubcommand()
            ? called.subcommand().commandSpec().commandLine()
            : spec().commandLine();
    return new ParameterException(command, problem);
  }
}

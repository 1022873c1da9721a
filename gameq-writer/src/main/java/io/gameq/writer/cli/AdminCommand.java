package io.gameq.writer.cli;

import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.admin.ActionResult;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.mysql.CommandServers;
import io.gameq.writer.terminal.TopCommand;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** A command; its methods, where it has such, are its subcommands. Used by one thread. */
public abstract class AdminCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  /** Without a subcommand there is nothing to do. */
  @Override
  public Integer call() throws InterruptedException {
    throw wrong("missing command: " + String.join(", ", spec().subcommands().keySet()));
  }

  /** The command. */
  protected final CommandSpec spec() {
    return Objects.requireNonNull(spec);
  }

  /** The option that its subcommands have too. */
  protected final ConfigOption config() {
    return config;
  }

  /** Its servers, until it ends; throws as {@link CommandServers#of}. */
  protected final CommandServers servers() {
    CommandServers servers = CommandServers.of(config, spec());
    ((TopCommand) spec().root().userObject()).atEnd(servers::close);
    return servers;
  }

  /** Says what became of it. */
  protected final int ended(boolean isDone, String text) {
    out().println(text);
    return isDone ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
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
    while (called.hasSubcommand()) {
      called = called.subcommand();
    }
    return new ParameterException(called.commandSpec().commandLine(), problem);
  }

  /**
   * Prints what became of dead letters, one a line, says on stderr every few seconds how far the
   * command is, and sums up. Used by one thread.
   */
  final class ResultReport {
    private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final long total;
    private final String prefix;
    private final Map<String, Long> counts = new LinkedHashMap<>();
    private long done;
    private long toldNanos = System.nanoTime();
    private int exitCode = ExitCodes.OK;

    /**
     * Begins.
     *
     * @param total how many letters there are
     * @param isDryRun whether nothing is changed
     */
    ResultReport(long total, boolean isDryRun) {
      this.total = total;
      this.prefix = isDryRun ? "would be " : "";
    }

    /** Prints one. */
    void add(ActionResult of) {
      if (of.result() != ActionResult.Resolution.DONE) {
        exitCode = ExitCodes.FOUND_SOMETHING;
      }
      counts.merge(of.became(), 1L, Long::sum);
      out().println(of.name() + ": " + prefix + of.text());
      progress();
    }

    /** One more is done. */
    void progress() {
      done++;
      if (System.nanoTime() - toldNanos >= EVERY_NANOS) {
        toldNanos = System.nanoTime();
        err().println(Shown.line("%,d of %,d dead letters done", done, total));
        err().flush();
      }
    }

    /**
     * Sums up.
     *
     * @param where such as {@code of topic mail}; empty of rows
     * @return 1 when a letter is left
     */
    int sum(String where) {
      StringJoiner line = new StringJoiner(", ");
      line.add(Shown.count(done, "dead letter") + where);
      counts.forEach((became, count) -> line.add(Shown.line("%,d %s", count, became)));
      out().println(line + (prefix.isEmpty() ? "" : " (dry run: nothing was changed)"));
      return exitCode;
    }
  }
}

package io.gameq.writer.terminal;

import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.terminal.ClassResource;
import io.gameq.terminal.ErrorLine;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.TextTable.TerminalWriter;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * The command that all others are subcommands of: without one of them it does nothing. Used by the
 * main thread.
 */
public abstract class TopCommand {
  /** Null: of this process. */
  private @Nullable String user;

  private final List<Runnable> atEnd = new ArrayList<>();

  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Print the stack trace of an error.")
  private boolean verbose;

  private final List<Class<?>> commands;

  protected TopCommand(Class<?>... commands) {
    this.commands = List.of(commands);
  }

  /** Runs one command line on the process's own streams, and ends the JVM. */
  protected final void executeAndExit(String... args) {
    System.exit(execute(TerminalWriter.of(System.out), TerminalWriter.of(System.err), args));
  }

  /**
   * Runs a command line of another process of this host.
   *
   * @param user who called it
   */
  public final int executeFor(String user, PrintWriter out, PrintWriter err, String... args) {
    try {
      TopCommand fresh = CommandLine.defaultFactory().create(getClass());
      fresh.user = user;
      return fresh.execute(out, err, args);
    } catch (Exception e) {
      throw new IllegalStateException("picocli made this command before", e);
    }
  }

  /** Who is to be named in the audit log. */
  public static Actor actor(CommandSpec command) {
    return command.root().userObject() instanceof TopCommand top && top.user != null
        ? Actor.of(top.user)
        : Actor.here();
  }

  /** Has something done when the command has ended, however it does. */
  public final void atEnd(Runnable work) {
    atEnd.add(work);
  }

  /** Runs one command line and returns its exit code; an error is one line. */
  protected final int execute(PrintWriter out, PrintWriter err, String... args) {
    try {
      return line(out, err, args).execute(args);
    } finally {
      atEnd.forEach(Runnable::run);
      out.flush();
      err.flush();
    }
  }

  private CommandLine line(PrintWriter out, PrintWriter err, String... args) {
    CommandLine line = new CommandLine(this);
    asked(List.of(args)).forEach(line::addSubcommand);
    jsonFields().forEach(of -> describe(of, line));
    return line.setOut(out)
        .setErr(err)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(
            (error, command, parsed) -> {
              command
                  .getErr()
                  .println(command.getCommandSpec().qualifiedName() + ": " + ErrorLine.of(error));
              if (verbose) {
                error.printStackTrace(command.getErr());
              }
              return ExitCodes.COULD_NOT_RUN;
            });
  }

  /** The command that is called: to read the annotations of all takes longer than most run. */
  private List<Class<?>> asked(List<String> args) {
    List<Class<?>> asked = new ArrayList<>(commands);
    asked.removeIf(command -> !args.contains(command.getAnnotation(Command.class).name()));
    return asked.isEmpty() || asked.contains(CompletionCommand.class) ? commands : asked;
  }

  /** The fields that {@code --json} prints, by command: {@code dead list: id, table, ...}. */
  public static List<String> jsonFields() {
    return ClassResource.text(TopCommand.class, "json-fields.txt").lines().toList();
  }

  /** The help of a command ends with its fields. */
  private static void describe(String fields, CommandLine all) {
    CommandLine command = all;
    for (String word : fields.substring(0, fields.indexOf(": ")).split(" ", -1)) {
      command = command.getSubcommands().getOrDefault(word, command); // OWNER is no command
    }
    if (command != all) {
      UsageMessageSpec usage = command.getCommandSpec().usageMessage();
      List<String> footer = new ArrayList<>(List.of(usage.footer()));
      footer.addAll(List.of("", "--json of " + fields));
      usage.footer(footer.toArray(String[]::new));
    }
  }

  /** {@code completion}: prints what a shell needs to complete the command line. */
  @Command(
      name = "completion",
      description = "Prints a script for bash and zsh that completes commands and options.",
      footer = {
        "",
        "bash:  source <(gameq-writer completion)",
        "zsh:   the same, in .zshrc after compinit",
        "For all users: gameq-writer completion > /etc/bash_completion.d/gameq-writer"
      })
  public static final class CompletionCommand implements Runnable {
    @Spec private @Nullable CommandSpec spec;

    @Override
    public void run() {
      CommandLine all = Objects.requireNonNull(spec).root().commandLine();
      all.getOut().print(AutoComplete.bash(all.getCommandName(), all));
    }
  }
}

package io.gameq.writer.terminal;

import java.io.PrintWriter;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

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
public final class CompletionCommand implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    CommandLine all = Objects.requireNonNull(spec).root().commandLine();
    PrintWriter out = all.getOut();
    out.print(AutoComplete.bash(all.getCommandName(), all));
    out.flush();
  }
}

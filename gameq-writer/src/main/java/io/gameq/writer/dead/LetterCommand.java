package io.gameq.writer.dead;

import io.gameq.terminal.ExitCodes;
import io.gameq.writer.config.ConfigOption;
import io.gameq.writer.letters.AuditedLetters;
import io.gameq.writer.mysql.AgreedConfig;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.terminal.TopCommand;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** What the dead commands have in common: each works on the letters of one database. */
abstract class LetterCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private ConfigOption config = new ConfigOption();

  @Override
  public final Integer call() {
    check();
    try (DeadLetters letters =
        DeadLetters.open(AgreedConfig.read(config, Objects.requireNonNull(spec)).mysql())) {
      return work(new AuditedLetters(letters, TopCommand.actor(Objects.requireNonNull(spec))));
    }
  }

  /** Refuses wrong usage before anything is connected to. */
  void check() {}

  /** Returns the exit code. */
  abstract int work(AuditedLetters letters);

  final PrintWriter out() {
    return Objects.requireNonNull(spec).commandLine().getOut();
  }

  final PrintWriter err() {
    return Objects.requireNonNull(spec).commandLine().getErr();
  }

  /** Says that a letter is not there. */
  final int absent(long id) {
    err().println("there is no dead letter " + id);
    return ExitCodes.FOUND_SOMETHING;
  }
}

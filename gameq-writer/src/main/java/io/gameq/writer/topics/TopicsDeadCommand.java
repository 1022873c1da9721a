package io.gameq.writer.topics;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code topics dead}: the parent of what is done with dead letters of topics. */
@Command(
    name = "dead",
    description =
        "Retries or discards dead letters of a topic: messages of which every attempt failed."
            + " 'topics show TOPIC --state dead' lists them.",
    subcommands = {TopicsRetryCommand.class, TopicsDiscardCommand.class})
final class TopicsDeadCommand implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    CommandSpec self = Objects.requireNonNull(spec);
    throw new CommandLine.ParameterException(
        self.commandLine(), "missing command: retry or discard");
  }
}

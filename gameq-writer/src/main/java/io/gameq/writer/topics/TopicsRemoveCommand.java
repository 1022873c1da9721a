package io.gameq.writer.topics;

import io.gameq.terminal.ExitCodes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code topics remove}: takes a topic off the list that nobody uses any more. */
@Command(
    name = "remove",
    description = "Removes a topic in which there is nothing, with its pause and rate.",
    footer = {
      "",
      "Close it in all nodes before: what one publishes that has it open still waits unseen until"
          + " somebody defines the topic again."
    })
final class TopicsRemoveCommand extends TopicCommand {
  @Parameters(paramLabel = "TOPIC", description = "As 'topics' names it.")
  private String topic = "";

  @Override
  int work(AuditedTopics topics) {
    topics.remove(topic);
    out().println("topic %s is removed".formatted(topic));
    return ExitCodes.OK;
  }
}

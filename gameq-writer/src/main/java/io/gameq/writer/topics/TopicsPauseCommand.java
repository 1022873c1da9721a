package io.gameq.writer.topics;

import io.gameq.terminal.ExitCodes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code topics pause}: consumers leave a topic alone until it is resumed. */
@Command(
    name = "pause",
    description = "Has consumers take nothing of a topic: its messages wait in Redis.",
    footer = {
      "",
      "Takes effect within about a second. What is held by then is finished. Publishing goes on."
    })
final class TopicsPauseCommand extends TopicCommand {
  @Parameters(paramLabel = "TOPIC", description = "As 'topics' names it.")
  private String topic = "";

  @Option(
      names = "--reason",
      required = true,
      paramLabel = "TEXT",
      description = "Why; shown by 'topics' until it is resumed. 255 characters at most.")
  private String reason = "";

  @Override
  int work(AuditedTopics topics) {
    out().println(TopicText.pause(topic, topics.pause(topic, reason)));
    out()
        .println(
            "consumers follow within about a second; 'topics resume %s' ends it".formatted(topic));
    return ExitCodes.OK;
  }
}

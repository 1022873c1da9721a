package io.gameq.writer.topics;

import io.gameq.redis.topic.TopicPauses.Pause;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
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
    Pause pause = topics.pause(topic, reason);
    if (pause == null) {
      err().println("topic %s was resumed by somebody else".formatted(Shown.text(topic)));
      return ExitCodes.FOUND_SOMETHING;
    }
    out().println(TopicText.pause(topic, pause));
    out()
        .println(
            "consumers follow within about a second; 'topics resume %s' ends it".formatted(topic));
    return ExitCodes.OK;
  }
}

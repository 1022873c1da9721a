package io.gameq.writer.topics;

import io.gameq.redis.topic.DefinedTopic.Pause;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code topics resume}: ends the pause of a topic. */
@Command(
    name = "resume",
    description = "Ends the pause of a topic: consumers go on within about a second.",
    footer = {"", "Ends with 1 when it was not paused."})
final class TopicsResumeCommand extends TopicCommand {
  @Parameters(paramLabel = "TOPIC", description = "As 'topics' names it.")
  private String topic = "";

  @Override
  int work(AuditedTopics topics) {
    Pause ended = topics.resume(topic);
    out()
        .println(
            ended == null
                ? "topic %s was not paused: nothing was done".formatted(Shown.text(topic))
                : "resumed topic %s, which was paused %s"
                    .formatted(Shown.text(topic), TopicText.why(ended)));
    return ended == null ? ExitCodes.FOUND_SOMETHING : ExitCodes.OK;
  }
}

package io.gameq.writer.topics;

import io.gameq.GameQueueException;
import io.gameq.redis.topic.DefinedTopic.Rate;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code topics rate}: all consumers of a topic together take at most so many a second. */
@Command(
    name = "rate",
    description = "Has all consumers of a topic together take at most so many messages a second.",
    footer = {
      "",
      "Takes effect within about a second. After a rest a tenth of a second's messages come at"
          + " once, one at least. Publishing goes on. Ends with 1 when there was no rate to end."
    })
final class TopicsRateCommand extends TopicCommand {
  private static final String NONE = "none";

  @Parameters(index = "0", paramLabel = "TOPIC", description = "As 'topics' names it.")
  private String topic = "";

  @Parameters(
      index = "1",
      paramLabel = "RATE",
      description = "Messages a second of all nodes, for example 50 or 0.5; 'none' ends the limit.")
  private String rate = "";

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      description = "Why; shown by 'topics'. 255 characters at most. Not with 'none'.")
  private String reason = "";

  @Override
  void check() {
    if (rate.equals(NONE)) {
      return;
    }
    if (reason.isEmpty()) {
      throw new GameQueueException("--reason is missing: say why the topic is limited");
    }
    perSecond();
  }

  private double perSecond() {
    try {
      return Double.parseDouble(rate);
    } catch (NumberFormatException e) {
      throw new GameQueueException(
          "RATE is a number of messages a second, or 'none': " + Shown.text(rate), e);
    }
  }

  @Override
  int work(AuditedTopics topics) {
    if (rate.equals(NONE)) {
      Rate ended = topics.endRate(topic);
      out()
          .println(
              ended == null
                  ? "topic %s had no rate: nothing was done".formatted(Shown.text(topic))
                  : "topic %s is not limited any more; it was limited to %s"
                      .formatted(Shown.text(topic), TopicText.rate(ended)));
      return ended == null ? ExitCodes.FOUND_SOMETHING : ExitCodes.OK;
    }
    out().println(TopicText.rate(topic, topics.rate(topic, perSecond(), reason)));
    return ExitCodes.OK;
  }
}

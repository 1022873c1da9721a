package io.gameq.writer.topics;

import io.gameq.redis.topic.DefinedTopic.Pause;
import io.gameq.redis.topic.DefinedTopic.Rate;
import io.gameq.redis.topic.TopicCounts;
import io.gameq.redis.topic.TopicDefinition;
import io.gameq.redis.topic.TopicSurvey;
import io.gameq.redis.topic.TopicSurvey.OfTopic;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.terminal.JsonLine;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code topics}: each topic, what waits in it, and whether there is something to act on. */
@Command(
    name = "topics",
    description =
        "Shows each topic: its messages by where they are, its definition, its pause and rate.",
    footer = {
      "",
      "PENDING: all that wait; DUE: those whose time has come, a group counts once; OVERDUE: for"
          + " how long the oldest of them waits. Costs Redis the same with a million messages as"
          + " with none. Ends with 1 when there is something to act on, which the last lines name."
    },
    subcommands = {
      TopicsShowCommand.class,
      TopicsTraceCommand.class,
      TopicsPauseCommand.class,
      TopicsResumeCommand.class,
      TopicsRateCommand.class,
      TopicsRemoveCommand.class,
      TopicsDeadCommand.class
    })
public final class TopicsCommand extends TopicCommand {
  @Option(names = "--json", description = "One JSON object a topic and line, nothing else.")
  private boolean json;

  @Override
  int work(AuditedTopics topics) {
    TopicSurvey survey = topics.survey();
    if (json) {
      survey.topics().forEach(of -> out().println(JsonLine.of(TopicText.values(of, survey))));
    } else {
      print(survey);
    }
    List<String> toDo = TopicText.toDo(survey);
    if (!json) {
      toDo.forEach(out()::println);
    }
    return toDo.isEmpty() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
  }

  private void print(TopicSurvey survey) {
    new TextTable(
            out(),
            "TOPIC",
            "PENDING",
            "DUE",
            "HELD",
            "RETRYING",
            "DEAD",
            "OVERDUE",
            "NEXT",
            "DEFINITION")
        .leavingOut("DEFINITION", "NEXT")
        .print(survey.topics().stream().map(of -> cells(of, survey.nowMillis())).toList());
    out().println(Shown.count(survey.topics().size(), "topic"));
    for (OfTopic of : survey.topics()) {
      Pause pause = of.pause();
      if (pause != null) {
        out().println(TopicText.pause(of.topic(), pause));
      }
      Rate rate = of.rate();
      if (rate != null) {
        out().println(TopicText.rate(of.topic(), rate));
      }
    }
  }

  private static List<String> cells(OfTopic of, long nowMillis) {
    TopicCounts counts = of.counts();
    TopicDefinition definition = of.definition();
    long overdue = of.overdueMillis(nowMillis);
    long next = counts.firstDueMillis() - nowMillis;
    return List.of(
        Shown.text(of.topic()),
        Long.toString(counts.pending()),
        Long.toString(counts.dueLanes()),
        Long.toString(counts.held()),
        Long.toString(counts.retrying()),
        Long.toString(counts.dead()),
        overdue == 0 ? "-" : Shown.duration(overdue),
        counts.firstDueMillis() < 0 || next <= 0 ? "-" : "in " + Shown.duration(next),
        definition == null ? "?" : TopicText.definition(definition));
  }
}

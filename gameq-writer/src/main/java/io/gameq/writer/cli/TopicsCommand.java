package io.gameq.writer.cli;

import io.gameq.GameQueueException;
import io.gameq.message.PayloadText;
import io.gameq.redis.topic.DefinedTopic.Pause;
import io.gameq.redis.topic.DefinedTopic.Rate;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.redis.topic.TopicMessages.TopicSurvey;
import io.gameq.redis.topic.TopicMessages.TopicSurvey.TopicSummary;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.admin.Messages;
import io.gameq.writer.admin.RecordView;
import io.gameq.writer.admin.TopicText;
import io.gameq.writer.admin.Topics;
import io.gameq.writer.admin.Topics.DeadMessageId;
import io.gameq.writer.admin.Topics.MessageTrace;
import io.gameq.writer.terminal.Confirmation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

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
    subcommands = TopicsCommand.TopicsDeadCommand.class)
public final class TopicsCommand extends AdminCommand {
  private static final String TOPIC = "As 'topics' names it.";
  private static final String NONE = "none";

  @Option(names = "--json", description = "One JSON object a topic and line, nothing else.")
  private boolean json;

  @Override
  public Integer call() {
    Topics topics = topics();
    TopicSurvey survey = topics.survey();
    TopicText.view(survey.nowMillis()).printer(out(), json).accept(survey.topics());
    List<String> toDo = TopicText.toDo(survey);
    if (!json) {
      out().println(Shown.count(survey.topics().size(), "topic"));
      survey.topics().forEach(this::limits);
      toDo.forEach(out()::println);
    }
    return toDo.isEmpty() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
  }

  /** MySQL is opened when something is to be changed, or Redis does not know the topic. */
  private Topics topics() {
    return new Topics(servers(), actor());
  }

  private void limits(TopicSummary of) {
    Pause pause = of.pause();
    if (pause != null) {
      out().println(TopicText.pause(of.topic(), pause));
    }
    Rate rate = of.rate();
    if (rate != null) {
      out().println(TopicText.rate(of.topic(), rate));
    }
  }

  @Command(
      name = "show",
      description = "Lists messages of a topic by state, a page at a time; reads Redis only.",
      footer = {
        "",
        "States: pending (they wait; of a group the next one, and how many are BEHIND it; with the"
            + " ERROR of the last attempt where one failed), ready (those that are taken next),"
            + " unhandled (due, and nobody handles their owner's messages; not among the pending),"
            + " held (a handler has them), dead (set aside with an error).",
        "Slot after slot; in a slot by their times, dead ones by their keys."
      })
  int show(
      @Parameters(paramLabel = "TOPIC", description = TOPIC) String topic,
      @Option(
              names = "--state",
              paramLabel = "STATE",
              defaultValue = "pending",
              description = "pending (the default), ready, unhandled, held or dead.")
          String state,
      @Option(
              names = "--limit",
              paramLabel = "N",
              defaultValue = "20",
              description = "Messages of the page, 1 to 1000; 20 without it.")
          int limit,
      @Option(
              names = "--after",
              paramLabel = "PLACE",
              defaultValue = "",
              description = "Goes on where a page ended: its last line names the place.")
          String after,
      @Option(
              names = "--values",
              description = "Show the payloads; that is noted in the audit log.")
          boolean withValues,
      @Option(names = "--json", description = "One JSON object a message and line, nothing else.")
          boolean asJson) {
    if (limit < 1 || limit > Topics.MOST_MESSAGES) {
      throw new GameQueueException("--limit must be 1 to " + Topics.MOST_MESSAGES);
    }
    Messages.MessageState of = Messages.MessageState.of(state);
    Topics topics = topics();
    Messages.MessagePage page = topics.page(topic, of, after, limit, withValues);
    if (!asJson) {
      Pause pause = topics.survey(topic).pause();
      if (pause != null) {
        out().println(TopicText.pause(topic, pause));
      }
    }
    Messages.view(of, page.nowMillis()).printer(out(), asJson).accept(page.messages());
    if (!asJson) {
      for (Messages.MessageView message : page.messages()) {
        PayloadText payload = message.payload();
        if (payload != null) {
          out().println(message.name() + " = " + Shown.text(payload.text()));
        }
      }
      out().println(Shown.count(page.messages().size(), Shown.lower(of) + " message"));
      if (!page.next().isEmpty()) {
        out().println("more: --after " + Shown.text(page.next()));
      }
    }
    return ExitCodes.OK;
  }

  @Command(
      name = "trace",
      description = "Shows where a message is and what will happen next; reads Redis only.",
      footer = {
        "",
        "Ends with 1 when there is something to act on, or there is no message of this key."
      })
  int trace(
      @Parameters(index = "0", paramLabel = "TOPIC", description = TOPIC) String topic,
      @Parameters(index = "1", paramLabel = "KEY", description = "As the game writes it.")
          String key,
      @Option(names = "--group", paramLabel = "GROUP", description = "Of a message in a group.")
          @Nullable String group,
      @Option(names = "--values", description = "Show the payload; that is noted in the audit log.")
          boolean withValues,
      @Option(names = "--json", description = "One JSON object on one line, nothing else.")
          boolean asJson) {
    Topics topics = topics();
    MessageTrace trace = topics.trace(topic, group, key, withValues);
    if (asJson) {
      out().println(RecordView.line(json(trace)));
    } else {
      print(trace);
    }
    return trace.next().isToAct() ? ExitCodes.FOUND_SOMETHING : ExitCodes.OK;
  }

  private static Map<String, @Nullable Object> json(MessageTrace trace) {
    return new RecordView<MessageTrace>()
        .json("topic", MessageTrace::topic)
        .json("key", MessageTrace::key)
        .json("group", MessageTrace::group)
        .json("slot", MessageTrace::slot)
        .json(
            "places",
            of ->
                of.places().stream()
                    .map(place -> Messages.view(place.state(), of.nowMillis()).json(place))
                    .toList())
        .json("ahead", MessageTrace::ahead)
        .json("toAct", of -> of.next().isToAct())
        .json("next", of -> of.next().sentence())
        .json(trace);
  }

  private void print(MessageTrace trace) {
    String name = TopicText.name(trace.group(), trace.key());
    out().println("%s: %s, slot %s".formatted(Shown.text(trace.topic()), name, trace.slot()));
    TextTable lines = TextTable.withoutHeadings(out(), 2);
    for (Messages.MessageView of : trace.places()) {
      lines.print(List.of(List.of(Shown.lower(of.state()), text(of, trace.nowMillis()))));
      PayloadText payload = of.payload();
      if (payload != null) {
        lines.print(List.of(List.of("", "= " + Shown.text(payload.text()))));
      }
    }
    out().println("next: " + trace.next().sentence());
  }

  private static String text(Messages.MessageView of, long nowMillis) {
    String when = Messages.relative(of.millis() - nowMillis);
    Instant at = Instant.ofEpochMilli(of.millis());
    String attempts = Shown.count(of.attempts(), "attempt");
    String what =
        switch (of.state()) {
          case HELD ->
              Shown.line("by node %s, lease ends %s, attempt %s", of.node(), when, of.attempts());
          case DEAD -> Shown.line("since %s UTC, after %s: %s", at, attempts, of.error());
          default -> Shown.line("due %s (%s UTC), %s failed", when, at, attempts);
        };
    Messages.Content content = of.content();
    return content == null
        ? what + "; its value cannot be read"
        : Shown.line(
            "%s; version %s, published %s UTC, priority %d, %,d bytes%s",
            what,
            content.version(),
            Instant.ofEpochMilli(content.sinceMillis()),
            content.priority(),
            content.payloadBytes(),
            content.schedule().isEmpty() ? "" : ", recurs: " + content.schedule());
  }

  @Command(
      name = "pause",
      description = "Has consumers take nothing of a topic: its messages wait in Redis.",
      footer = {
        "",
        "Takes effect within about a second. What is held by then is finished. Publishing goes on."
      })
  int pause(
      @Parameters(paramLabel = "TOPIC", description = TOPIC) String topic,
      @Option(
              names = "--reason",
              required = true,
              paramLabel = "TEXT",
              description = "Why; shown by 'topics' until it is resumed. 255 characters at most.")
          String reason) {
    Topics topics = topics();
    out().println(TopicText.pause(topic, topics.pause(topic, reason)));
    String ends = "'topics resume %s' ends it".formatted(topic);
    out().println("consumers follow within about a second; " + ends);
    return ExitCodes.OK;
  }

  @Command(
      name = "resume",
      description = "Ends the pause of a topic: consumers go on within about a second.",
      footer = {"", "Ends with 1 when it was not paused."})
  int resume(@Parameters(paramLabel = "TOPIC", description = TOPIC) String topic) {
    Topics topics = topics();
    Pause ended = topics.resume(topic);
    return ended(
        ended != null,
        ended == null
            ? Shown.line("topic %s was not paused: nothing was done", topic)
            : Shown.line("resumed topic %s, which was paused %s", topic, TopicText.why(ended)));
  }

  @Command(
      name = "rate",
      description = "Has all consumers of a topic together take at most so many messages a second.",
      footer = {
        "",
        "Takes effect within about a second. After a rest a tenth of a second's messages come at"
            + " once, one at least. Publishing goes on. Ends with 1 when there was no rate to end."
      })
  int rate(
      @Parameters(index = "0", paramLabel = "TOPIC", description = TOPIC) String topic,
      @Parameters(
              index = "1",
              paramLabel = "RATE",
              description =
                  "Messages a second of all nodes, for example 50 or 0.5; 'none' ends the limit.")
          String rate,
      @Option(
              names = "--reason",
              paramLabel = "TEXT",
              defaultValue = "",
              description = "Why; shown by 'topics'. 255 characters at most. Not with 'none'.")
          String reason) {
    if (rate.equals(NONE)) {
      Topics topics = topics();
      Rate ended = topics.endRate(topic);
      return ended(
          ended != null,
          ended == null
              ? Shown.line("topic %s had no rate: nothing was done", topic)
              : Shown.line(
                  "topic %s is not limited any more; it was limited to %s",
                  topic, TopicText.rate(ended)));
    }
    if (reason.isEmpty()) {
      throw new GameQueueException("--reason is missing: say why the topic is limited");
    }
    double perSecond = perSecond(rate);
    return ended(true, TopicText.rate(topic, topics().rate(topic, perSecond, reason)));
  }

  private static double perSecond(String rate) {
    try {
      return Double.parseDouble(rate);
    } catch (NumberFormatException e) {
      throw new GameQueueException(
          "RATE is a number of messages a second, or 'none': " + Shown.text(rate), e);
    }
  }

  @Command(
      name = "options",
      description = "Shows the options of a topic, or changes them in MySQL.",
      footer = {
        "",
        "Nodes that have the topic open go on with theirs. A node that opens it with other options"
            + " than MySQL has is refused: change them here, then restart the nodes. slots and"
            + " ageMillis are changed while there are no messages, and no node has it open. Ends"
            + " with 1 when nothing differs."
      })
  int options(
      @Parameters(paramLabel = "TOPIC", description = TOPIC) String topic,
      @Option(
              names = "--set",
              paramLabel = "NAME=VALUE",
              description = "An option, named as without --set; repeat it for more.")
          @Nullable Map<String, String> set,
      @Option(names = "--dry-run", description = "Only say what would be changed.")
          boolean isDryRun) {
    Topics topics = topics();
    TopicDefinition there = topics.options(topic);
    if (set == null) {
      there
          .members()
          .forEach((name, value) -> out().println(name + "=" + Shown.text(value.toString())));
      return ExitCodes.OK;
    }
    TopicDefinition to = topics.options(there, set);
    to.changes(there).values().forEach(change -> out().println(Shown.text(change)));
    if (to.equals(there)) {
      return ended(false, "topic %s has these options: nothing was done".formatted(topic));
    }
    if (!isDryRun) {
      topics.change(there, to);
    }
    return ended(
        true,
        "topic %s %s; nodes that have it open go on as they opened it"
            .formatted(topic, isDryRun ? "would be changed" : "is changed"));
  }

  @Command(
      name = "remove",
      description = "Removes a topic in which there is nothing, with its pause and rate.",
      footer = {
        "",
        "Close it in all nodes before: what one publishes that has it open still waits unseen until"
            + " somebody defines the topic again."
      })
  int remove(@Parameters(paramLabel = "TOPIC", description = TOPIC) String topic) {
    Topics topics = topics();
    topics.remove(topic);
    return ended(true, "topic %s is removed".formatted(topic));
  }

  /** {@code topics dead}: what is done with dead letters of topics. */
  @Command(
      name = "dead",
      description =
          "Retries or discards dead letters of a topic: messages of which every attempt failed."
              + " 'topics show TOPIC --state dead' lists them.")
  static final class TopicsDeadCommand {
    @ParentCommand private @Nullable TopicsCommand parent;

    /** The largest payload that a topic may allow, and more than JSON adds to it. */
    private static final long MOST_FILE_BYTES = 8 << 20;

    private TopicsCommand parent() {
      return Objects.requireNonNull(parent);
    }

    @Command(
        name = "retry",
        description =
            "Has dead letters of a topic handled again, at once, with all their attempts.",
        footer = {
          "",
          "With --payload-file all of them get its bytes as their payload; with --record the file"
              + " is JSON, as 'topics trace --values' shows the payload of a record. A letter of"
              + " whose key a newer message is pending or held is left alone."
        })
    int retry(
        @Mixin DeadChoice choice,
        @Mixin Confirmation confirmation,
        @Option(
                names = "--payload-file",
                paramLabel = "FILE",
                description = "A payload in place of theirs; the audit log does not have it.")
            @Nullable Path payloadFile,
        @Option(names = "--record", description = "The file has a record as JSON.")
            boolean isRecord) {
      return work(
          choice,
          (topics, found, report) -> {
            byte @Nullable [] payload = payloadFile == null ? null : payload(payloadFile, isRecord);
            if (payload != null && found.size() > 1) {
              confirmation.require("Retry %s with this payload?".formatted(choice.text(found)));
            }
            topics.retry(choice.topic, found, payload, report::add);
          });
    }

    @Command(name = "discard", description = "Removes dead letters of a topic for good.")
    int discard(@Mixin DeadChoice choice, @Mixin Confirmation confirmation) {
      return work(
          choice,
          (topics, found, report) -> {
            confirmation.require("Discard %s for good?".formatted(choice.text(found)));
            topics.discard(choice.topic, found, report::add);
          });
    }

    private interface MessageAction {
      void on(Topics topics, List<DeadMessageId> found, AdminCommand.ResultReport report);
    }

    /** Returns 1 when a key has no dead letter, or one was left alone. */
    private int work(DeadChoice choice, MessageAction work) {
      if (choice.keys.isEmpty() != choice.all || (choice.all && choice.group != null)) {
        throw parent().wrong("give keys, with --group where they have one, or --all");
      }
      Topics topics = parent().topics();
      List<DeadMessageId> found =
          choice.all
              ? topics.dead(choice.topic)
              : topics.dead(choice.topic, choice.group, choice.keys);
      Set<String> without = new LinkedHashSet<>(choice.keys);
      found.forEach(of -> without.remove(of.id().key()));
      if (!without.isEmpty()) {
        String names =
            without.stream()
                .map(key -> TopicText.name(choice.group, key))
                .collect(Collectors.joining(", "));
        parent().err().println("no dead letter of " + names + ": nothing was done");
        return ExitCodes.FOUND_SOMETHING;
      }
      AdminCommand.ResultReport report = parent().new ResultReport(found.size(), false);
      if (!found.isEmpty()) {
        work.on(topics, found, report);
      }
      return report.sum(" of topic " + Shown.text(choice.topic));
    }

    private static byte[] payload(Path file, boolean isRecord) {
      try {
        if (Files.size(file) > MOST_FILE_BYTES) {
          throw new GameQueueException("%s is larger than any payload".formatted(file));
        }
        byte[] bytes = Files.readAllBytes(file);
        return isRecord
            ? PayloadText.bytes(PayloadText.Form.RECORD, new String(bytes, StandardCharsets.UTF_8))
            : bytes;
      } catch (IOException e) {
        throw new GameQueueException("cannot read %s".formatted(Shown.text(file.toString())), e);
      }
    }

    /** Which dead letters of a topic are meant. */
    static final class DeadChoice {
      @Parameters(index = "0", paramLabel = "TOPIC", description = TOPIC)
      private String topic = "";

      @Parameters(
          index = "1..*",
          arity = "0..*",
          paramLabel = "KEY",
          description = "Keys, as the game writes them; or give --all.")
      private List<String> keys = new ArrayList<>();

      @Option(names = "--group", paramLabel = "GROUP", description = "Of messages in a group.")
      private @Nullable String group;

      @Option(names = "--all", description = "All dead letters of the topic.")
      private boolean all;

      private String text(List<DeadMessageId> found) {
        return "%s of topic %s"
            .formatted(Shown.count(found.size(), "dead letter"), Shown.text(topic));
      }
    }
  }
}

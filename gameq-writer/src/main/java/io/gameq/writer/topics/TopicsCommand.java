package io.gameq.writer.topics;

import io.gameq.GameQueueException;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.PayloadText;
import io.gameq.redis.topic.DefinedTopic.Pause;
import io.gameq.redis.topic.DefinedTopic.Rate;
import io.gameq.redis.topic.TopicDefinition;
import io.gameq.redis.topic.TopicMessages.Retried;
import io.gameq.redis.topic.TopicMessages.TopicCounts;
import io.gameq.redis.topic.TopicSurvey;
import io.gameq.redis.topic.TopicSurvey.OfTopic;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.terminal.Confirmation;
import io.gameq.writer.terminal.JsonLine;
import io.gameq.writer.topics.AuditedTopics.DeadName;
import io.gameq.writer.topics.AuditedTopics.MessageTrace;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

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
      TopicsCommand.TopicsTraceCommand.class,
      TopicsCommand.TopicsPauseCommand.class,
      TopicsCommand.TopicsResumeCommand.class,
      TopicsCommand.TopicsRateCommand.class,
      TopicsCommand.TopicsRemoveCommand.class,
      TopicsCommand.TopicsDeadCommand.class
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

  /** {@code topics dead}: the parent of what is done with dead letters of topics. */
  @Command(
      name = "dead",
      description =
          "Retries or discards dead letters of a topic: messages of which every attempt failed."
              + " 'topics show TOPIC --state dead' lists them.",
      subcommands = {TopicsRetryCommand.class, TopicsDiscardCommand.class})
  static final class TopicsDeadCommand implements Runnable {
    @Spec private @Nullable CommandSpec spec;

    @Override
    public void run() {
      CommandSpec self = Objects.requireNonNull(spec);
      throw new CommandLine.ParameterException(
          self.commandLine(), "missing command: retry or discard");
    }
  }

  /** {@code topics remove}: takes a topic off the list that nobody uses any more. */
  @Command(
      name = "remove",
      description = "Removes a topic in which there is nothing, with its pause and rate.",
      footer = {
        "",
        "Close it in all nodes before: what one publishes that has it open still waits unseen until"
            + " somebody defines the topic again."
      })
  static final class TopicsRemoveCommand extends TopicCommand {
    @Parameters(paramLabel = "TOPIC", description = "As 'topics' names it.")
    private String topic = "";

    @Override
    int work(AuditedTopics topics) {
      topics.remove(topic);
      out().println("topic %s is removed".formatted(topic));
      return ExitCodes.OK;
    }
  }

  /** {@code topics resume}: ends the pause of a topic. */
  @Command(
      name = "resume",
      description = "Ends the pause of a topic: consumers go on within about a second.",
      footer = {"", "Ends with 1 when it was not paused."})
  static final class TopicsResumeCommand extends TopicCommand {
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

  /** {@code topics pause}: consumers leave a topic alone until it is resumed. */
  @Command(
      name = "pause",
      description = "Has consumers take nothing of a topic: its messages wait in Redis.",
      footer = {
        "",
        "Takes effect within about a second. What is held by then is finished. Publishing goes on."
      })
  static final class TopicsPauseCommand extends TopicCommand {
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
              "consumers follow within about a second; 'topics resume %s' ends it"
                  .formatted(topic));
      return ExitCodes.OK;
    }
  }

  /** {@code topics dead discard}: dead letters are given up. */
  @Command(name = "discard", description = "Removes dead letters of a topic for good.")
  static final class TopicsDiscardCommand extends TopicCommand {
    @Mixin private DeadChoice choice = new DeadChoice();
    @Mixin private Confirmation confirmation = new Confirmation();

    @Override
    void check() {
      choice.check(self());
    }

    /** Returns 1 when a key has no dead letter, or one was left alone. */
    @Override
    int work(AuditedTopics topics) {
      List<DeadName> found = choice.find(topics, err());
      if (found == null) {
        return ExitCodes.FOUND_SOMETHING;
      }
      int[] done = {0};
      if (!found.isEmpty()) {
        confirmation.require("Discard %s for good?".formatted(choice.text(found.size())));
        topics.discard(
            choice.topic(),
            found,
            (id, discarded) -> {
              done[0] += discarded ? 1 : 0;
              out().println(DeadChoice.name(id) + ": " + TopicText.became(discarded));
            });
      }
      out()
          .println(
              String.format(Locale.ROOT, "%s, %,d discarded", choice.text(found.size()), done[0]));
      return done[0] == found.size() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }
  }

  /** Which dead letters of a topic a command is about; mix it in. */
  static final class DeadChoice {
    @Parameters(index = "0", paramLabel = "TOPIC", description = "As 'topics' names it.")
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

    String topic() {
      return topic;
    }

    void check(CommandSpec self) {
      if (keys.isEmpty() != all || (all && group != null)) {
        throw new CommandLine.ParameterException(
            self.commandLine(), "give keys, with --group where they have one, or --all");
      }
    }

    /** Those that are there; null when a key has none, which is said then. */
    @Nullable List<DeadName> find(AuditedTopics topics, PrintWriter err) {
      if (all) {
        return topics.dead(topic);
      }
      Set<String> named = new LinkedHashSet<>(keys);
      List<DeadName> found = topics.dead(topic, group, List.copyOf(named));
      found.stream().map(DeadName::id).map(MessageId::key).forEach(named::remove);
      if (!named.isEmpty()) {
        err.println(
            "no dead letter of %s: nothing was done"
                .formatted(
                    named.stream()
                        .map(key -> TopicText.name(group, key))
                        .collect(Collectors.joining(", "))));
        return null;
      }
      return found;
    }

    static String name(MessageId id) {
      return TopicText.name(id.group(), id.key());
    }

    /** {@code 3 dead letters of topic mail}. */
    String text(int number) {
      return "%s of topic %s".formatted(Shown.count(number, "dead letter"), Shown.text(topic));
    }
  }

  /** {@code topics rate}: all consumers of a topic together take at most so many a second. */
  @Command(
      name = "rate",
      description = "Has all consumers of a topic together take at most so many messages a second.",
      footer = {
        "",
        "Takes effect within about a second. After a rest a tenth of a second's messages come at"
            + " once, one at least. Publishing goes on. Ends with 1 when there was no rate to end."
      })
  static final class TopicsRateCommand extends TopicCommand {
    private static final String NONE = "none";

    @Parameters(index = "0", paramLabel = "TOPIC", description = "As 'topics' names it.")
    private String topic = "";

    @Parameters(
        index = "1",
        paramLabel = "RATE",
        description =
            "Messages a second of all nodes, for example 50 or 0.5; 'none' ends the limit.")
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

  /** {@code topics dead retry}: dead letters are handled again. */
  @Command(
      name = "retry",
      description = "Has dead letters of a topic handled again, at once, with all their attempts.",
      footer = {
        "",
        "With --payload-file all of them get its bytes as their payload; with --record the file is"
            + " JSON, as 'topics trace --values' shows the payload of a record. A letter of whose"
            + " key a newer message is pending or held is left alone."
      })
  static final class TopicsRetryCommand extends TopicCommand {
    /** The largest payload that a topic may allow, and more than JSON adds to it. */
    private static final long MOST_FILE_BYTES = 8 << 20;

    @Mixin private DeadChoice choice = new DeadChoice();
    @Mixin private Confirmation confirmation = new Confirmation();

    @Option(
        names = "--payload-file",
        paramLabel = "FILE",
        description = "A payload in place of theirs; the audit log does not have it.")
    private @Nullable Path payloadFile;

    @Option(names = "--record", description = "The file has a record as JSON.")
    private boolean isRecord;

    @Override
    void check() {
      choice.check(self());
    }

    /** Returns 1 when a key has no dead letter, or one was left alone. */
    @Override
    int work(AuditedTopics topics) {
      byte @Nullable [] payload = payloadFile == null ? null : payload(payloadFile);
      List<DeadName> found = choice.find(topics, err());
      if (found == null) {
        return ExitCodes.FOUND_SOMETHING;
      }
      if (payload != null && found.size() > 1) {
        confirmation.require("Retry %s with this payload?".formatted(choice.text(found.size())));
      }
      int[] done = {0};
      if (!found.isEmpty()) {
        topics.retry(
            choice.topic(),
            found,
            payload,
            (id, retried) -> {
              done[0] += retried == Retried.RETRIED ? 1 : 0;
              out().println(DeadChoice.name(id) + ": " + TopicText.became(retried));
            });
      }
      out()
          .println(
              String.format(Locale.ROOT, "%s, %,d due now", choice.text(found.size()), done[0]));
      return done[0] == found.size() ? ExitCodes.OK : ExitCodes.FOUND_SOMETHING;
    }

    private byte[] payload(Path file) {
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
  }

  /** {@code topics trace}: where one message is, and what will happen next. */
  @Command(
      name = "trace",
      description = "Shows where a message is and what will happen next; reads Redis only.",
      footer = {
        "",
        "Ends with 1 when there is something to act on, or there is no message of this key."
      })
  static final class TopicsTraceCommand extends TopicCommand {
    @Parameters(index = "0", paramLabel = "TOPIC", description = "As 'topics' names it.")
    private String topic = "";

    @Parameters(index = "1", paramLabel = "KEY", description = "As the game writes it.")
    private String key = "";

    @Option(names = "--group", paramLabel = "GROUP", description = "Of a message in a group.")
    private @Nullable String group;

    @Option(names = "--values", description = "Show the payload; that is noted in the audit log.")
    private boolean values;

    @Option(names = "--json", description = "One JSON object on one line, nothing else.")
    private boolean json;

    @Override
    int work(AuditedTopics topics) {
      MessageTrace trace = topics.trace(topic, group, key, values);
      if (json) {
        out().println(JsonLine.of(values(trace)));
      } else {
        print(trace);
      }
      return trace.next().isToAct() ? ExitCodes.FOUND_SOMETHING : ExitCodes.OK;
    }

    private void print(MessageTrace trace) {
      out()
          .printf(
              Locale.ROOT,
              "%s: %s, slot %d%n",
              Shown.text(trace.topic()),
              TopicText.name(trace.group(), trace.key()),
              trace.slot());
      TextTable lines = TextTable.withoutHeadings(out(), 2);
      for (ListedMessage of : trace.places()) {
        lines.print(List.of(List.of(of.state().text(), text(of, trace.nowMillis()))));
        ListedMessage.Content content = of.content();
        PayloadText payload = content == null ? null : content.payload();
        if (payload != null) {
          lines.print(List.of(List.of("", "= " + Shown.text(payload.text()))));
        }
      }
      out().println("next: " + trace.next().sentence());
    }

    private static String text(ListedMessage of, long nowMillis) {
      String when = TopicsShowCommand.relative(of.millis() - nowMillis);
      String at = Shown.utc(Instant.ofEpochMilli(of.millis())) + " UTC";
      String what =
          switch (of.state()) {
            case HELD ->
                "by node %s, lease ends %s, attempt %s"
                    .formatted(Shown.text(of.node()), when, of.attempts());
            case DEAD ->
                "since %s, after %s: %s"
                    .formatted(at, Shown.count(of.attempts(), "attempt"), Shown.text(of.error()));
            default ->
                "due %s (%s), %s failed".formatted(when, at, Shown.count(of.attempts(), "attempt"));
          };
      ListedMessage.Content content = of.content();
      return content == null
          ? what + "; its value cannot be read"
          : what
              + String.format(
                  Locale.ROOT,
                  "; version %s, published %s UTC, priority %d, %,d bytes%s",
                  content.version(),
                  Shown.utc(Instant.ofEpochMilli(content.sinceMillis())),
                  content.priority(),
                  content.payloadBytes(),
                  content.schedule().isEmpty()
                      ? ""
                      : ", recurs: " + Shown.text(content.schedule()));
    }

    private static Map<String, Object> values(MessageTrace trace) {
      Map<String, Object> all = new LinkedHashMap<>();
      all.put("topic", trace.topic());
      all.put("key", trace.key());
      all.put("group", trace.group());
      all.put("slot", trace.slot());
      all.put("places", trace.places().stream().map(TopicText::values).toList());
      all.put("ahead", trace.ahead());
      all.put("toAct", trace.next().isToAct());
      all.put("next", trace.next().sentence());
      return all;
    }
  }
}

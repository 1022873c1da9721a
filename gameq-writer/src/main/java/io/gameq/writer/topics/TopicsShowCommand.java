package io.gameq.writer.topics;

import io.gameq.GameQueueException;
import io.gameq.message.PayloadText;
import io.gameq.redis.topic.DefinedTopic.Pause;
import io.gameq.redis.topic.TopicSurvey;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.terminal.JsonLine;
import java.time.Instant;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code topics show}: the messages of a topic in pages. */
@Command(
    name = "show",
    description = "Lists messages of a topic by state, a page at a time; reads Redis only.",
    footer = {
      "",
      "States: pending (they wait; of a group the next one, and how many are BEHIND it; with the"
          + " ERROR of the last attempt where one failed), ready (those that are taken next), held"
          + " (a handler has them), dead (set aside with an error).",
      "Slot after slot; in a slot by their times, dead ones by their keys."
    })
final class TopicsShowCommand extends TopicCommand {
  /** An error of a handler may be a long one. */
  private static final int MOST_ERROR = 100;

  @Parameters(paramLabel = "TOPIC", description = "As 'topics' names it.")
  private String topic = "";

  @Option(
      names = "--state",
      paramLabel = "STATE",
      description = "pending (the default), ready, held or dead.")
  private String state = "pending";

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Messages of the page, 1 to 1000; 20 without it.")
  private int limit = 20;

  @Option(
      names = "--after",
      paramLabel = "PLACE",
      description = "Goes on where a page ended: its last line names the place.")
  private String after = "";

  @Option(names = "--values", description = "Show the payloads; that is noted in the audit log.")
  private boolean values;

  @Option(names = "--json", description = "One JSON object a message and line, nothing else.")
  private boolean json;

  @Override
  void check() {
    if (limit < 1 || limit > AuditedTopics.MOST_MESSAGES) {
      throw new GameQueueException("--limit must be 1 to " + AuditedTopics.MOST_MESSAGES);
    }
  }

  @Override
  int work(AuditedTopics topics) {
    MessageState of = MessageState.of(state);
    MessagePage page = topics.page(topic, of, after, limit, values);
    if (json) {
      page.messages().forEach(message -> out().println(JsonLine.of(TopicText.values(message))));
      return ExitCodes.OK;
    }
    TopicSurvey.OfTopic whole = topics.survey(topic);
    Pause pause = whole.pause();
    if (pause != null) {
      out().println(TopicText.pause(topic, pause));
    }
    new TextTable(
            out(),
            "KEY",
            "GROUP",
            heading(of),
            "ATTEMPTS",
            "PRIORITY",
            "BYTES",
            of == MessageState.HELD ? "NODE" : "BEHIND",
            "ERROR")
        .leavingOut("BYTES", "PRIORITY", "GROUP")
        .print(page.messages().stream().map(message -> cells(message, page)).toList());
    page.messages().forEach(this::payload);
    out().println(Shown.count(page.messages().size(), of.text() + " message"));
    if (!page.next().isEmpty()) {
      out().println("more: --after " + Shown.text(page.next()));
    }
    return ExitCodes.OK;
  }

  private static String heading(MessageState state) {
    return switch (state) {
      case PENDING, READY -> "DUE";
      case HELD -> "LEASE ENDS";
      case DEAD -> "DIED (UTC)";
    };
  }

  private static List<String> cells(ListedMessage of, MessagePage page) {
    ListedMessage.Content content = of.content();
    String group = of.group();
    return List.of(
        Shown.text(of.key()),
        group == null ? "-" : Shown.text(group),
        of.state() == MessageState.DEAD
            ? Shown.utc(Instant.ofEpochMilli(of.millis()))
            : relative(of.millis() - page.nowMillis()),
        Integer.toString(of.attempts()),
        content == null ? "?" : Integer.toString(content.priority()),
        content == null ? "?" : Integer.toString(content.payloadBytes()),
        switch (of.state()) {
          case HELD -> Shown.text(of.node());
          default -> Long.toString(of.behind());
        },
        of.error().isEmpty() ? "-" : Shown.cut(of.error(), MOST_ERROR));
  }

  static String relative(long millis) {
    return millis < 0 ? Shown.duration(-millis) + " ago" : "in " + Shown.duration(millis);
  }

  private void payload(ListedMessage of) {
    ListedMessage.Content content = of.content();
    PayloadText payload = content == null ? null : content.payload();
    if (payload != null) {
      out().println(TopicText.name(of.group(), of.key()) + " = " + Shown.text(payload.text()));
    }
  }
}

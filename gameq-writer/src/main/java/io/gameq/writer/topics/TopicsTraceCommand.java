package io.gameq.writer.topics;

import io.gameq.message.PayloadText;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.terminal.TextTable;
import io.gameq.writer.terminal.JsonLine;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code topics trace}: where one message is, and what will happen next. */
@Command(
    name = "trace",
    description = "Shows where a message is and what will happen next; reads Redis only.",
    footer = {
      "",
      "Ends with 1 when there is something to act on, or there is no message of this key."
    })
final class TopicsTraceCommand extends TopicCommand {
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
                content.schedule().isEmpty() ? "" : ", recurs: " + Shown.text(content.schedule()));
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

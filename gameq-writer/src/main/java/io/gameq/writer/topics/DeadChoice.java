package io.gameq.writer.topics;

import io.gameq.message.MessageId;
import io.gameq.terminal.Shown;
import io.gameq.writer.topics.AuditedTopics.DeadName;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Which dead letters of a topic a command is about; mix it in. */
final class DeadChoice {
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

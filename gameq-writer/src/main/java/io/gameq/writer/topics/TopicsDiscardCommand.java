package io.gameq.writer.topics;

import io.gameq.terminal.ExitCodes;
import io.gameq.writer.terminal.Confirmation;
import io.gameq.writer.topics.AuditedTopics.DeadName;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code topics dead discard}: dead letters are given up. */
@Command(name = "discard", description = "Removes dead letters of a topic for good.")
final class TopicsDiscardCommand extends TopicCommand {
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

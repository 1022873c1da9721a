package io.gameq.writer.topics;

import io.gameq.GameQueueException;
import io.gameq.message.PayloadText;
import io.gameq.redis.topic.TopicMessages.Retried;
import io.gameq.terminal.ExitCodes;
import io.gameq.terminal.Shown;
import io.gameq.writer.terminal.Confirmation;
import io.gameq.writer.topics.AuditedTopics.DeadName;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code topics dead retry}: dead letters are handled again. */
@Command(
    name = "retry",
    description = "Has dead letters of a topic handled again, at once, with all their attempts.",
    footer = {
      "",
      "With --payload-file all of them get its bytes as their payload; with --record the file is"
          + " JSON, as 'topics trace --values' shows the payload of a record. A letter of whose key"
          + " a newer message is pending or held is left alone."
    })
final class TopicsRetryCommand extends TopicCommand {
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
        .println(String.format(Locale.ROOT, "%s, %,d due now", choice.text(found.size()), done[0]));
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

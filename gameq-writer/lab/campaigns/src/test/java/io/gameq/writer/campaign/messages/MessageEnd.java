package io.gameq.writer.campaign.messages;

import io.gameq.GameQueue;
import io.gameq.topic.Message;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicAdmin;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What is left of messages at the end of a case. Stateless. */
public final class MessageEnd {
  private MessageEnd() {}

  /** Ids of all dead letters. */
  public static Set<String> dead(GameQueue queue) {
    Set<String> ids = new HashSet<>();
    for (Topic<Errand> topic : Errand.topics(queue)) {
      @Nullable String from = null;
      do {
        TopicAdmin.Page<Errand> page = topic.list(Message.State.DEAD, from);
        page.messages().forEach(message -> ids.add(Objects.requireNonNull(message.payload()).id()));
        from = page.next();
      } while (from != null);
    }
    return ids;
  }
}

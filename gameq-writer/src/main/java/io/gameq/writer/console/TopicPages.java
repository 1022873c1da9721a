package io.gameq.writer.console;

import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.PayloadText;
import io.gameq.redis.topic.DefinedTopic.Pause;
import io.gameq.redis.topic.DefinedTopic.Rate;
import io.gameq.redis.topic.TopicDefinition;
import io.gameq.redis.topic.TopicMessages.Retried;
import io.gameq.redis.topic.TopicSurvey;
import io.gameq.redis.topic.TopicSurvey.OfTopic;
import io.gameq.writer.console.GuardedRoutes.Visitor;
import io.gameq.writer.topics.AuditedTopics;
import io.gameq.writer.topics.AuditedTopics.DeadName;
import io.gameq.writer.topics.AuditedTopics.MessageTrace;
import io.gameq.writer.topics.MessagePage;
import io.gameq.writer.topics.MessageState;
import io.gameq.writer.topics.TopicText;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.Context;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Topics: a list, the messages of one, one message in full, and what can be done with them.
 * Thread-safe; see {@link AuditedTopics} for what is in the audit log.
 */
final class TopicPages {
  private static final int MESSAGES = 50;

  /** Whoever gives more is told by the topic itself. */
  private static final int MOST_CHARS = 1_000;

  /** What a request has room for beside it. */
  private static final int MOST_PAYLOAD_CHARS = 60_000;

  private final ConsoleServers servers;

  TopicPages(ConsoleServers servers) {
    this.servers = servers;
  }

  /** Why a topic is paused. */
  record PausedTopic(String reason, String by, long atMillis) {
    static PausedTopic of(Pause pause) {
      return new PausedTopic(pause.reason(), pause.who(), pause.sinceMillis());
    }
  }

  /**
   * One topic.
   *
   * @param nextMillis until the next message is due; null when none waits for its time
   * @param rate how many messages a second all nodes together take, and why; empty for any
   */
  record TopicLine(
      String topic,
      long pending,
      long due,
      long held,
      long retrying,
      long dead,
      long overdueMillis,
      @Nullable Long nextMillis,
      String definition,
      @Nullable PausedTopic pause,
      String rate,
      String error) {
    static TopicLine of(OfTopic of, long nowMillis) {
      TopicDefinition definition = of.definition();
      Pause pause = of.pause();
      Rate rate = of.rate();
      long next = of.counts().firstDueMillis();
      return new TopicLine(
          of.topic(),
          of.counts().pending(),
          of.counts().dueLanes(),
          of.counts().held(),
          of.counts().retrying(),
          of.counts().dead(),
          of.overdueMillis(nowMillis),
          next > nowMillis ? next - nowMillis : null,
          definition == null ? "" : TopicText.definition(definition),
          pause == null ? null : PausedTopic.of(pause),
          rate == null ? "" : TopicText.rate(rate),
          of.error());
    }
  }

  /** All topics, and what is to be done about them. */
  record TopicList(List<TopicLine> topics, List<String> toDo) {}

  /** One topic, and some of its messages. */
  record TopicMessages(TopicLine topic, MessagePage page) {}

  /** What became of a dead letter; {@code isGone} when there is nothing more to do about it. */
  record DoneMessage(boolean isGone, String became) {}

  void addTo(GuardedRoutes routes) {
    routes.look("topics", (context, visitor) -> list(visitor));
    routes.lookAtTopic("topics/{topic}", this::messages);
    routes.lookAtTopic("topics/{topic}/message", this::message);
    routes.valuesOfTopic("topic-values", this::values);
    routes.actOnTopic("topic-pause", this::pause);
    routes.actOnTopic("topic-resume", this::resume);
    routes.actOnTopic("topic-retry", this::retry);
    routes.actOnTopic("topic-discard", this::discard);
  }

  private TopicList list(Visitor visitor) {
    TopicSurvey survey = servers.topics(Visitor.NOBODY, AuditedTopics::survey);
    return new TopicList(
        survey.topics().stream()
            .filter(of -> visitor.token().allows(of.topic()))
            .map(of -> TopicLine.of(of, survey.nowMillis()))
            .toList(),
        visitor.token().topics().isEmpty() ? TopicText.toDo(survey) : List.of());
  }

  private TopicMessages messages(Context context, String topic) {
    MessageState state =
        MessageState.of(Objects.requireNonNullElse(context.queryParam("state"), "pending"));
    String after = Objects.requireNonNullElse(context.queryParam("after"), "");
    return servers.topics(
        Visitor.NOBODY,
        topics -> {
          MessagePage page = topics.page(topic, state, after, MESSAGES, false);
          return new TopicMessages(TopicLine.of(topics.survey(topic), page.nowMillis()), page);
        });
  }

  private MessageTrace message(Context context, String topic) {
    String key = context.queryParam("key");
    String group = context.queryParam("group");
    if (key == null) {
      throw new BadRequestResponse("'key' is missing");
    }
    return servers.topics(
        Visitor.NOBODY,
        topics -> topics.trace(topic, group == null || group.isEmpty() ? null : group, key, false));
  }

  private MessageTrace values(RequestBody body, Visitor visitor, String topic) {
    String group = group(body);
    String key = key(body);
    return servers.topics(visitor, topics -> topics.trace(topic, group, key, true));
  }

  private static String key(RequestBody body) {
    return body.exactText("key", MOST_CHARS);
  }

  private static @Nullable String group(RequestBody body) {
    return body.has("group") ? body.exactText("group", MOST_CHARS) : null;
  }

  private List<PausedTopic> pause(RequestBody body, Visitor visitor, String topic) {
    String reason = body.text("reason", MOST_CHARS);
    return List.of(PausedTopic.of(servers.topics(visitor, topics -> topics.pause(topic, reason))));
  }

  private List<PausedTopic> resume(RequestBody body, Visitor visitor, String topic) {
    Pause pause = servers.topics(visitor, topics -> topics.resume(topic));
    return pause == null ? List.of() : List.of(PausedTopic.of(pause));
  }

  private DoneMessage retry(RequestBody body, Visitor visitor, String topic) {
    DeadName letter = letter(body, topic);
    byte @Nullable [] payload =
        body.has("payload")
            ? PayloadText.bytes(
                PayloadText.Form.of(body.text("form", MOST_CHARS)),
                body.exactText("payload", MOST_PAYLOAD_CHARS))
            : null;
    Retried retried = servers.topics(visitor, topics -> topics.retry(letter, payload));
    return new DoneMessage(retried != Retried.OVERTAKEN, TopicText.became(retried));
  }

  private DoneMessage discard(RequestBody body, Visitor visitor, String topic) {
    DeadName letter = letter(body, topic);
    boolean discarded = servers.topics(visitor, topics -> topics.discard(letter));
    return new DoneMessage(true, TopicText.became(discarded));
  }

  /** The dead letter that was shown, and no newer one. */
  private static DeadName letter(RequestBody body, String topic) {
    try {
      return new DeadName(
          MessageId.of(topic, group(body), key(body)),
          Long.parseUnsignedLong(body.text("version", MOST_CHARS)));
    } catch (NumberFormatException e) {
      throw new BadRequestResponse("'version' is that of the message, as it was shown");
    }
  }
}

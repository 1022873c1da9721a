package io.gameq.writer.console;

import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.PayloadText;
import io.gameq.redis.topic.DefinedTopic.Pause;
import io.gameq.redis.topic.TopicMessages.TopicSurvey;
import io.gameq.redis.topic.TopicMessages.TopicSurvey.OfTopic;
import io.gameq.writer.admin.Done;
import io.gameq.writer.admin.Messages;
import io.gameq.writer.admin.TopicText;
import io.gameq.writer.admin.Topics;
import io.gameq.writer.admin.Topics.DeadName;
import io.gameq.writer.admin.Topics.MessageTrace;
import io.gameq.writer.console.GuardedRoutes.Visitor;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Topics: a list, the messages of one, one message in full, and what can be done with them.
 * Thread-safe; see {@link Topics} for what is in the audit log.
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

  /** In the same words as commands, with the moments as numbers. */
  private static Map<String, @Nullable Object> line(OfTopic of, long nowMillis) {
    long next = of.counts().firstDueMillis() - nowMillis;
    return TopicText.counts(nowMillis)
        .json("nextMillis", topic -> next > 0 ? next : null)
        .json(
            "definition",
            topic -> topic.definition() == null ? "" : TopicText.definition(topic.definition()))
        .json("pause", topic -> topic.pause() == null ? null : PausedTopic.of(topic.pause()))
        .json("rate", topic -> topic.rate() == null ? "" : TopicText.rate(topic.rate()))
        .json("error", OfTopic::error)
        .json(of);
  }

  /** All topics, and what is to be done about them. */
  record TopicList(List<Map<String, @Nullable Object>> topics, List<String> toDo) {}

  /** One topic, and some of its messages. */
  record TopicMessages(Map<String, @Nullable Object> topic, Messages.Page page) {}

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
    TopicSurvey survey = servers.topics(Visitor.NOBODY, Topics::survey);
    return new TopicList(
        survey.topics().stream()
            .filter(of -> visitor.token().allows(of.topic()))
            .map(of -> line(of, survey.nowMillis()))
            .toList(),
        visitor.token().topics().isEmpty() ? TopicText.toDo(survey) : List.of());
  }

  private TopicMessages messages(Context context, String topic) {
    Messages.State state =
        Messages.State.of(Objects.requireNonNullElse(context.queryParam("state"), "pending"));
    String after = Objects.requireNonNullElse(context.queryParam("after"), "");
    return servers.topics(
        Visitor.NOBODY,
        topics -> {
          Messages.Page page = topics.page(topic, state, after, MESSAGES, false);
          return new TopicMessages(line(topics.survey(topic), page.nowMillis()), page);
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
    return done(visitor, (topics, told) -> topics.retry(topic, List.of(letter), payload, told));
  }

  private DoneMessage discard(RequestBody body, Visitor visitor, String topic) {
    DeadName letter = letter(body, topic);
    return done(visitor, (topics, told) -> topics.discard(topic, List.of(letter), told));
  }

  private DoneMessage done(Visitor visitor, BiConsumer<Topics, Consumer<Done>> action) {
    return servers.topics(
        visitor,
        topics -> {
          List<Done> done = new ArrayList<>();
          action.accept(topics, done::add);
          return new DoneMessage(done.get(0).result() != Done.Result.LEFT, done.get(0).text());
        });
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

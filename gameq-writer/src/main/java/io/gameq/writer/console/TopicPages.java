package io.gameq.writer.console;

import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.PayloadText;
import io.gameq.redis.topic.DefinedTopic.Pause;
import io.gameq.redis.topic.TopicMessages.TopicSurvey;
import io.gameq.redis.topic.TopicMessages.TopicSurvey.TopicSummary;
import io.gameq.writer.admin.ActionResult;
import io.gameq.writer.admin.Messages;
import io.gameq.writer.admin.TopicText;
import io.gameq.writer.admin.Topics;
import io.gameq.writer.admin.Topics.DeadMessageId;
import io.gameq.writer.admin.Topics.MessageTrace;
import io.gameq.writer.console.ConsoleRoutes.Access;
import io.javalin.http.BadRequestResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Topics: a list, the messages of one, one message in full, and what can be done with them.
 * Thread-safe; see {@link Topics} for what is in the audit log.
 */
final class TopicPages {
  private static final int MESSAGES = 50;

  /** What a request has room for beside it. */
  private static final int MOST_PAYLOAD_CHARS = 60_000;

  private final ConsoleServers servers;

  TopicPages(ConsoleServers servers) {
    this.servers = servers;
  }

  void addTo(ConsoleRoutes routes) {
    routes.addOfVisitor("topics", this::list);
    routes.addOfTopic(Access.LOOK, "topics/{topic}", this::messages);
    routes.addOfTopic(
        Access.LOOK, "topics/{topic}/message", (of, topic) -> trace(of, topic, false));
    routes.addOfTopic(Access.VALUES, "topic-values", (of, topic) -> trace(of, topic, true));
    routes.addOfTopic(Access.ACT, "topic-pause", this::pause);
    routes.addOfTopic(Access.ACT, "topic-resume", this::resume);
    routes.addOfTopic(Access.ACT, "topic-retry", this::retry);
    routes.addOfTopic(Access.ACT, "topic-discard", this::discard);
  }

  /** In the same words as commands, with the moments as numbers. */
  private static Map<String, @Nullable Object> line(TopicSummary of, long nowMillis) {
    return TopicText.view(nowMillis)
        .json(
            "definition",
            topic -> topic.definition() == null ? "" : TopicText.definition(topic.definition()))
        .json("rate", topic -> topic.rate() == null ? "" : TopicText.rate(topic.rate()))
        .json(of);
  }

  private Object list(ConsoleRequest request) {
    TopicSurvey survey = servers.topics(request.actor(), Topics::survey);
    boolean isOfAll = request.token().topics().isEmpty();
    return Map.of(
        "topics",
        survey.topics().stream()
            .filter(of -> request.token().allows(of.topic()))
            .map(of -> line(of, survey.nowMillis()))
            .toList(),
        "toDo",
        isOfAll ? TopicText.toDo(survey) : List.of());
  }

  private Object messages(ConsoleRequest request, String topic) {
    String state = Objects.requireNonNullElse(request.optionalText("state"), "pending");
    String after = Objects.requireNonNullElse(request.optionalText("after"), "");
    Messages.MessageState of = Messages.MessageState.of(state);
    return servers.topics(
        request.actor(),
        topics -> {
          Messages.MessagePage page = topics.page(topic, of, after, MESSAGES, false);
          return Map.of("topic", line(topics.survey(topic), page.nowMillis()), "page", page);
        });
  }

  private MessageTrace trace(ConsoleRequest request, String topic, boolean withPayload) {
    String group = request.optionalExactText("group");
    String key = request.exactText("key");
    return servers.topics(request.actor(), topics -> topics.trace(topic, group, key, withPayload));
  }

  private Object pause(ConsoleRequest request, String topic) {
    String reason = request.text("reason");
    return List.of(
        TopicText.PAUSE.json(
            servers.topics(request.actor(), topics -> topics.pause(topic, reason))));
  }

  private Object resume(ConsoleRequest request, String topic) {
    Pause ended = servers.topics(request.actor(), topics -> topics.resume(topic));
    return Stream.ofNullable(ended).map(TopicText.PAUSE::json).toList();
  }

  private Object retry(ConsoleRequest request, String topic) {
    DeadMessageId letter = letter(request, topic);
    byte @Nullable [] payload =
        request.has("payload")
            ? PayloadText.bytes(
                PayloadText.Form.of(request.text("form")),
                request.exactText("payload", MOST_PAYLOAD_CHARS))
            : null;
    return done(request, (topics, told) -> topics.retry(topic, List.of(letter), payload, told));
  }

  private Object discard(ConsoleRequest request, String topic) {
    DeadMessageId letter = letter(request, topic);
    return done(request, (topics, told) -> topics.discard(topic, List.of(letter), told));
  }

  private Object done(ConsoleRequest request, BiConsumer<Topics, Consumer<ActionResult>> action) {
    List<ActionResult> done = new ArrayList<>();
    return servers.topics(
        request.actor(),
        topics -> {
          action.accept(topics, done::add);
          return Map.of("isGone", done.get(0).isGone(), "became", done.get(0).text());
        });
  }

  /** The dead letter that was shown, and no newer one. */
  private static DeadMessageId letter(ConsoleRequest request, String topic) {
    try {
      return new DeadMessageId(
          MessageId.of(topic, request.optionalExactText("group"), request.exactText("key")),
          Long.parseUnsignedLong(request.text("version")));
    } catch (NumberFormatException e) {
      throw new BadRequestResponse("'version' is that of the message, as it was shown");
    }
  }
}

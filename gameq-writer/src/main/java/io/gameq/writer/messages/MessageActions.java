package io.gameq.writer.messages;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.PayloadText;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.redis.topic.TopicMessages.TopicSurvey;
import io.gameq.topic.Claimed;
import io.gameq.topic.Claims;
import io.gameq.topic.Message;
import io.gameq.topic.Publish;
import io.gameq.topic.Retry;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicAdmin;
import io.gameq.topic.TopicOptions;
import io.gameq.writer.admin.Topics;
import io.gameq.writer.messages.MessageApi.Acknowledgements;
import io.gameq.writer.messages.MessageApi.Attempts;
import io.gameq.writer.messages.MessageApi.Definition;
import io.gameq.writer.messages.MessageApi.Extensions;
import io.gameq.writer.messages.MessageApi.Failures;
import io.gameq.writer.messages.MessageApi.Publishes;
import io.gameq.writer.messages.MessageApi.Takes;
import io.javalin.http.HttpStatus;
import io.javalin.http.NotFoundResponse;
import io.javalin.http.TooManyRequestsResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What each route does. Thread-safe. */
final class MessageActions {
  /** Messages of one request, and claims. */
  static final int MOST = 100;

  static final int MOST_WAIT_MILLIS = 20_000;

  /** Requests that wait for messages; each is a connection, and holds no thread. */
  static final int MOST_WAITING = 500;

  /** Redis has a message in a millisecond, or is away. */
  private static final int QUEUED_SECONDS = 10;

  private static final int MOST_ERROR_CHARS = 500;

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Somebody may remove a definition and make another one. */
  private static final long KNOWN_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final GameQueue queue;
  private final MySql mysql;
  private final Map<String, Known> known = new ConcurrentHashMap<>();
  private final Semaphore waiting = new Semaphore(MOST_WAITING);

  private record Known(Topic<byte[]> topic, long sinceNanos) {}

  /** With MySQL for the audit log. */
  MessageActions(GameQueue queue, MySql mysql) {
    this.queue = queue;
    this.mysql = mysql;
  }

  /** A topic as it is defined; answers 404 when nobody has defined it. */
  private Topic<byte[]> find(String name) {
    Known of = known.get(name);
    if (of != null && System.nanoTime() - of.sinceNanos < KNOWN_NANOS) {
      return of.topic;
    }
    Optional<Topic<byte[]>> found = queue.definedTopic(name);
    if (found.isEmpty()) {
      known.remove(name);
      throw new NotFoundResponse(
          "there is no topic '%s': a node defines it, or PUT /api/topics/%s".formatted(name, name));
    }
    known.put(name, new Known(found.get(), System.nanoTime()));
    return found.get();
  }

  Answer topic(String name) {
    Topic<byte[]> topic = find(name);
    TopicAdmin.Counts counts = topic.counts();
    ObjectNode body = definition(topic);
    body.putObject("messages")
        .put("pending", counts.pending())
        .put("due", counts.due())
        .put("held", counts.held())
        .put("dead", counts.dead());
    return Answer.ok(body);
  }

  private static ObjectNode definition(Topic<byte[]> topic) {
    TopicOptions of = topic.options();
    ObjectNode body =
        JSON.createObjectNode()
            .put("topic", topic.name())
            .put("slots", of.slots())
            .put("payloadBytes", of.payloadBytes())
            .put("ageingMillis", of.ageing().toMillis())
            .put("windowMillis", of.window().toMillis())
            .put("leaseMillis", of.lease().toMillis());
    ObjectNode retry = body.putObject("retry");
    ArrayNode delays = retry.putArray("delaysMillis");
    of.retry().delays().forEach(delay -> delays.add(delay.toMillis()));
    retry.put("jitter", of.retry().jitter()).put("attempts", of.retry().attempts());
    return body;
  }

  /** 201 where it is new, 200 where it is there, 409 where another one is there. */
  Answer define(String name, Definition as, Actor actor) {
    TopicOptions options = options(as);
    boolean isNew = queue.definedTopic(name).isEmpty();
    if (isNew) {
      beforeDefining(name, actor);
    }
    try {
      return new Answer(
          isNew ? HttpStatus.CREATED : HttpStatus.OK, definition(queue.topic(name, options)));
    } catch (GameQueueException e) {
      if (queue.definedTopic(name).isEmpty()) {
        throw e;
      }
      return Answer.error(HttpStatus.CONFLICT, String.valueOf(e.getMessage()));
    }
  }

  private static TopicOptions options(Definition as) {
    TopicOptions of = TopicOptions.DEFAULT;
    of = as.slots() == null ? of : of.slots(as.slots());
    of = as.payloadBytes() == null ? of : of.payloadBytes(as.payloadBytes());
    of = as.ageingMillis() == null ? of : of.priorities(Duration.ofMillis(as.ageingMillis()));
    of = as.windowMillis() == null ? of : of.window(Duration.ofMillis(as.windowMillis()));
    of = as.leaseMillis() == null ? of : of.lease(Duration.ofMillis(as.leaseMillis()));
    return as.retry() == null ? of : of.retry(retry(as.retry()));
  }

  private static Retry retry(Attempts as) {
    Retry of = Retry.DEFAULT;
    List<Long> delays = as.delaysMillis();
    boolean jitter = delays == null && of.jitter();
    return new Retry(
        delays == null ? of.delays() : delays.stream().map(Duration::ofMillis).toList(),
        as.jitter() == null ? jitter : as.jitter(),
        as.attempts() == null ? of.attempts() : as.attempts());
  }

  /** No more than are watched: others would drop out of the metrics. */
  private void beforeDefining(String name, Actor actor) {
    if (new TopicTable(mysql).count() >= TopicSurvey.MOST_TOPICS) {
      throw new GameQueueException(
          ("there are %s topics, more are not watched: 'gameq-writer topics remove' removes one, a"
                  + " node may define more")
              .formatted(TopicSurvey.MOST_TOPICS));
    }
    AuditTable.add(mysql, actor, "topic define", "topic " + name, "");
  }

  CompletableFuture<Answer> publish(
      String name, String key, @Nullable String group, PublishedBody body) {
    Topic<byte[]> topic = find(name);
    return queued(topic, List.of(body.message(key, group, topic.options().payloadBytes())));
  }

  CompletableFuture<Answer> publish(String name, Publishes body) {
    List<PublishedBody> messages = body.messages() == null ? List.of() : body.messages();
    checkCount("messages", messages.size());
    Topic<byte[]> topic = find(name);
    int most = topic.options().payloadBytes();
    return queued(topic, messages.stream().map(of -> of.message(null, null, most)).toList());
  }

  private static CompletableFuture<Answer> queued(
      Topic<byte[]> topic, List<Publish<byte[]>> messages) {
    return topic
        .publish(messages)
        .queued()
        .orTimeout(QUEUED_SECONDS, TimeUnit.SECONDS)
        .thenApply(nothing -> Answer.ok(JSON.createObjectNode().put("published", messages.size())));
  }

  /**
   * A message with its payload.
   *
   * @param actor whoever looks, for the audit log; null for a program, which is given payloads
   */
  Answer lookUp(String name, String key, @Nullable String group, @Nullable Actor actor) {
    Topic<byte[]> topic = find(name);
    if (actor != null) {
      String target = Topics.target(MessageId.of(name, group, key));
      AuditTable.add(mysql, actor, "topic show", target, "with payload");
    }
    Optional<Message<byte[]>> found = group == null ? topic.get(key) : topic.get(group, key);
    if (found.isEmpty()) {
      return Answer.error(HttpStatus.NOT_FOUND, "there is no such message");
    }
    Message<byte[]> message = found.get();
    ObjectNode body = identity(message.key(), message.group());
    byte[] payload = message.payload();
    if (payload != null) {
      putPayload(body, payload);
    }
    body.put("state", message.state().name().toLowerCase(Locale.ROOT))
        .put("priority", message.priority())
        .put("due", message.due().toString())
        .put("since", message.since().toString())
        .put("attempts", message.attempts());
    return Answer.ok(message.error() == null ? body : body.put("error", message.error()));
  }

  private static ObjectNode identity(String key, @Nullable String group) {
    ObjectNode body = JSON.createObjectNode().put("key", key);
    return group == null ? body : body.put("group", group);
  }

  /** A record as JSON; the bytes where it is none, or where JSON does not hold all of it. */
  private static void putPayload(ObjectNode body, byte[] payload) {
    PayloadText text = PayloadText.of(payload);
    boolean isRecord = text.form() == PayloadText.Form.RECORD;
    if (isRecord) {
      body.set("payload", json(text.text()));
    }
    if (!isRecord || !text.isExact()) {
      body.put("payloadBase64", Base64.getEncoder().encodeToString(payload));
    }
  }

  private static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (JacksonException e) {
      throw new UncheckedIOException(new IOException("a payload as JSON", e));
    }
  }

  CompletableFuture<Answer> delete(String name, String key, @Nullable String group) {
    Topic<byte[]> topic = find(name);
    return (group == null ? topic.delete(key) : topic.delete(group, key))
        .queued()
        .orTimeout(QUEUED_SECONDS, TimeUnit.SECONDS)
        .thenApply(nothing -> Answer.ok(JSON.createObjectNode()));
  }

  CompletableFuture<Answer> take(String name, Takes body) {
    int max = body.max() == null ? 1 : body.max();
    long wait = body.waitMillis() == null ? 0 : body.waitMillis();
    if (max < 1 || max > MOST || wait < 0 || wait > MOST_WAIT_MILLIS) {
      throw new GameQueueException(
          "'max' is 1 to %s, 'waitMillis' 0 to %s".formatted(MOST, MOST_WAIT_MILLIS));
    }
    Topic<byte[]> topic = find(name);
    if (!waiting.tryAcquire()) {
      throw new TooManyRequestsResponse(
          "%s requests wait for messages already".formatted(MOST_WAITING));
    }
    CompletableFuture<List<Claimed<byte[]>>> taken;
    try {
      taken = topic.claims().take(max, Duration.ofMillis(wait));
    } catch (RuntimeException e) {
      waiting.release();
      throw e;
    }
    return taken.whenComplete((all, error) -> waiting.release()).thenApply(MessageActions::taken);
  }

  private static Answer taken(List<Claimed<byte[]>> all) {
    ObjectNode body = JSON.createObjectNode();
    ArrayNode messages = body.putArray("messages");
    for (Claimed<byte[]> of : all) {
      ObjectNode message = identity(of.key(), of.group());
      putPayload(message, of.payload());
      messages.add(
          message
              .put("claim", of.claim())
              .put("fence", Long.toString(of.fence())) // JavaScript's numbers lose digits
              .put("attempt", of.attempt())
              .put("due", of.due().toString())
              .put("since", of.since().toString())
              .put("leaseMillis", of.lease().toMillis()));
    }
    return Answer.ok(body);
  }

  CompletableFuture<Answer> acknowledge(String name, Acknowledgements body) {
    List<String> claims = claims(body.claims());
    return find(name)
        .claims()
        .acknowledge(claims)
        .orTimeout(QUEUED_SECONDS, TimeUnit.SECONDS)
        .thenApply(lost -> outcome(claims, lost));
  }

  Answer extend(String name, Extensions body) {
    List<String> claims = claims(body.claims());
    if (body.leaseMillis() == null) {
      throw new GameQueueException("'leaseMillis' is missing: when the lease ends, from now");
    }
    List<String> lost = find(name).claims().extend(claims, Duration.ofMillis(body.leaseMillis()));
    return outcome(claims, lost);
  }

  Answer fail(String name, Failures body) {
    List<String> claims = claims(body.claims());
    String why = body.error() == null ? "failed" : body.error();
    if (why.length() > MOST_ERROR_CHARS) {
      throw new GameQueueException("'error' has %s characters at most".formatted(MOST_ERROR_CHARS));
    }
    Duration after = body.afterMillis() == null ? null : Duration.ofMillis(body.afterMillis());
    Claims<byte[]> topic = find(name).claims();
    boolean counts = body.counts() == null || body.counts();
    List<String> lost = counts ? topic.fail(claims, why, after) : topic.giveBack(claims, after);
    return outcome(claims, lost);
  }

  private static List<String> claims(@Nullable List<String> given) {
    List<String> claims = given == null ? List.of() : List.copyOf(new HashSet<>(given));
    checkCount("claims", claims.size());
    return claims;
  }

  private static void checkCount(String name, int count) {
    if (count < 1 || count > MOST) {
      throw new GameQueueException("'%s' is a list of 1 to %s: %s".formatted(name, MOST, count));
    }
  }

  /** What became of claims: 409 when some were lost, the others are done all the same. */
  private static Answer outcome(List<String> claims, List<String> lost) {
    int done = claims.size() - lost.size();
    if (lost.isEmpty()) {
      return Answer.ok(JSON.createObjectNode().put("done", done));
    }
    Answer answer =
        Answer.error(
            HttpStatus.CONFLICT,
            ("%s of %s claims were lost: their leases had run out, or they were acknowledged or"
                    + " failed before; those messages were, or will be, handled again; the others"
                    + " are done")
                .formatted(lost.size(), claims.size()));
    answer.body.put("done", done);
    lost.forEach(answer.body.putArray("lost")::add);
    return answer;
  }

  /** What a request gets: a status, and JSON. Immutable. */
  record Answer(HttpStatus status, ObjectNode body) {
    static Answer ok(ObjectNode body) {
      return new Answer(HttpStatus.OK, body);
    }

    static Answer error(HttpStatus status, String why) {
      return new Answer(status, JSON.createObjectNode().put("error", why));
    }
  }
}

package io.gameq.writer.door;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gameq.ClosedException;
import io.gameq.CommitUnknownException;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.PayloadText;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.redis.topic.TopicMessages.TopicSurvey;
import io.gameq.terminal.ErrorLine;
import io.gameq.topic.Claimed;
import io.gameq.topic.Claims;
import io.gameq.topic.Message;
import io.gameq.topic.Publish;
import io.gameq.topic.Retry;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicAdmin;
import io.gameq.topic.TopicOptions;
import io.gameq.writer.admin.Topics;
import io.gameq.writer.door.MessageDoor.DoorBodies.Acknowledgements;
import io.gameq.writer.door.MessageDoor.DoorBodies.Attempts;
import io.gameq.writer.door.MessageDoor.DoorBodies.Definition;
import io.gameq.writer.door.MessageDoor.DoorBodies.Extensions;
import io.gameq.writer.door.MessageDoor.DoorBodies.Failures;
import io.gameq.writer.door.MessageDoor.DoorBodies.Publishes;
import io.gameq.writer.door.MessageDoor.DoorBodies.Takes;
import io.javalin.http.HttpResponseException;
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
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** What each route does. Thread-safe. */
final class DoorActions {
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
  DoorActions(GameQueue queue, MySql mysql) {
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

  DoorAnswer topic(String name) {
    Topic<byte[]> topic = find(name);
    TopicAdmin.Counts counts = topic.counts();
    ObjectNode body = definition(topic);
    body.putObject("messages")
        .put("pending", counts.pending())
        .put("due", counts.due())
        .put("held", counts.held())
        .put("dead", counts.dead());
    return DoorAnswer.ok(body);
  }

  private static ObjectNode definition(Topic<byte[]> topic) {
    TopicOptions of = topic.options();
    ObjectNode body =
        DoorAnswer.object()
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
  DoorAnswer define(String name, Definition as, Actor actor) {
    TopicOptions options = options(as);
    boolean isNew = queue.definedTopic(name).isEmpty();
    if (isNew) {
      beforeDefining(name, actor);
    }
    try {
      return new DoorAnswer(
          isNew ? DoorAnswer.CREATED : DoorAnswer.OK, definition(queue.topic(name, options)));
    } catch (GameQueueException e) {
      if (queue.definedTopic(name).isEmpty()) {
        throw e;
      }
      return DoorAnswer.error(DoorAnswer.CONFLICT, String.valueOf(e.getMessage()));
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
    if (delays != null) {
      of = new Retry(delays.stream().map(Duration::ofMillis).toList(), false, of.attempts());
    }
    if (as.jitter() != null) {
      of = new Retry(of.delays(), as.jitter(), of.attempts());
    }
    return as.attempts() == null ? of : of.attempts(as.attempts());
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

  CompletableFuture<DoorAnswer> publish(
      String name, String key, @Nullable String group, PublishedBody body) {
    Topic<byte[]> topic = find(name);
    return queued(topic, List.of(body.message(key, group, topic.options().payloadBytes())));
  }

  CompletableFuture<DoorAnswer> publish(String name, Publishes body) {
    List<PublishedBody> messages = body.messages() == null ? List.of() : body.messages();
    checkCount("messages", messages.size());
    Topic<byte[]> topic = find(name);
    int most = topic.options().payloadBytes();
    return queued(topic, messages.stream().map(of -> of.message(null, null, most)).toList());
  }

  private static CompletableFuture<DoorAnswer> queued(
      Topic<byte[]> topic, List<Publish<byte[]>> messages) {
    return topic
        .publish(messages)
        .queued()
        .orTimeout(QUEUED_SECONDS, TimeUnit.SECONDS)
        .thenApply(nothing -> DoorAnswer.ok(DoorAnswer.object().put("published", messages.size())));
  }

  /**
   * A message with its payload.
   *
   * @param actor whoever looks, for the audit log; null for a program, which is given payloads
   */
  DoorAnswer lookUp(String name, String key, @Nullable String group, @Nullable Actor actor) {
    Topic<byte[]> topic = find(name);
    if (actor != null) {
      String target = Topics.target(MessageId.of(name, group, key));
      AuditTable.add(mysql, actor, "topic show", target, "with payload");
    }
    Optional<Message<byte[]>> found = group == null ? topic.get(key) : topic.get(group, key);
    if (found.isEmpty()) {
      return DoorAnswer.error(DoorAnswer.NOT_FOUND, "there is no such message");
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
    return DoorAnswer.ok(message.error() == null ? body : body.put("error", message.error()));
  }

  private static ObjectNode identity(String key, @Nullable String group) {
    ObjectNode body = DoorAnswer.object().put("key", key);
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

  CompletableFuture<DoorAnswer> delete(String name, String key, @Nullable String group) {
    Topic<byte[]> topic = find(name);
    return (group == null ? topic.delete(key) : topic.delete(group, key))
        .queued()
        .orTimeout(QUEUED_SECONDS, TimeUnit.SECONDS)
        .thenApply(nothing -> DoorAnswer.ok(DoorAnswer.object()));
  }

  CompletableFuture<DoorAnswer> take(String name, Takes body) {
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
    return taken.whenComplete((all, error) -> waiting.release()).thenApply(DoorActions::taken);
  }

  private static DoorAnswer taken(List<Claimed<byte[]>> all) {
    ObjectNode body = DoorAnswer.object();
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
    return DoorAnswer.ok(body);
  }

  CompletableFuture<DoorAnswer> acknowledge(String name, Acknowledgements body) {
    List<String> claims = claims(body.claims());
    return find(name)
        .claims()
        .acknowledge(claims)
        .orTimeout(QUEUED_SECONDS, TimeUnit.SECONDS)
        .thenApply(lost -> DoorAnswer.claims(claims.size() - lost.size(), lost));
  }

  DoorAnswer extend(String name, Extensions body) {
    List<String> claims = claims(body.claims());
    if (body.leaseMillis() == null) {
      throw new GameQueueException("'leaseMillis' is missing: when the lease ends, from now");
    }
    List<String> lost = find(name).claims().extend(claims, Duration.ofMillis(body.leaseMillis()));
    return DoorAnswer.claims(claims.size() - lost.size(), lost);
  }

  DoorAnswer fail(String name, Failures body) {
    List<String> claims = claims(body.claims());
    String why = body.error() == null ? "failed" : body.error();
    if (why.length() > MOST_ERROR_CHARS) {
      throw new GameQueueException("'error' has %s characters at most".formatted(MOST_ERROR_CHARS));
    }
    Duration after = body.afterMillis() == null ? null : Duration.ofMillis(body.afterMillis());
    Claims<byte[]> topic = find(name).claims();
    boolean counts = body.counts() == null || body.counts();
    List<String> lost = counts ? topic.fail(claims, why, after) : topic.giveBack(claims, after);
    return DoorAnswer.claims(claims.size() - lost.size(), lost);
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

  /** What a request gets: a status, and JSON. Immutable. */
  record DoorAnswer(int status, ObjectNode body) {
    private static final ObjectMapper JSON = new ObjectMapper();

    static final int OK = 200;
    static final int CREATED = 201;
    static final int BAD_REQUEST = 400;
    static final int NOT_FOUND = 404;
    static final int CONFLICT = 409;
    static final int UNAVAILABLE = 503;

    /** An object to be filled. */
    static ObjectNode object() {
      return JSON.createObjectNode();
    }

    static DoorAnswer ok(ObjectNode body) {
      return new DoorAnswer(OK, body);
    }

    static DoorAnswer error(int status, String why) {
      return new DoorAnswer(status, object().put("error", why));
    }

    /** What became of claims: 409 when some were lost, the others are done all the same. */
    static DoorAnswer claims(int done, List<String> lost) {
      if (lost.isEmpty()) {
        return ok(object().put("done", done));
      }
      DoorAnswer answer =
          error(
              CONFLICT,
              ("%s of %s claims were lost: their leases had run out, or they were acknowledged or"
                      + " failed before; those messages were, or will be, handled again; the others"
                      + " are done")
                  .formatted(lost.size(), done + lost.size()));
      answer.body.put("done", done);
      lost.forEach(answer.body.putArray("lost")::add);
      return answer;
    }

    /** What an error comes to; one that nobody expected is thrown on. */
    static DoorAnswer of(Throwable error) {
      if (error instanceof CompletionException && error.getCause() != null) {
        return of(error.getCause());
      }
      if (error instanceof HttpResponseException known) {
        return error(known.getStatus(), String.valueOf(known.getMessage()));
      }
      if (error instanceof TimeoutException || error instanceof CommitUnknownException) {
        return error(
            UNAVAILABLE,
            "it is not known whether Redis has it; to send it again does no harm: a key has one"
                + " message");
      }
      if (error instanceof GameQueueException known) {
        boolean isOutage = known.isOutage() || known instanceof ClosedException;
        return error(isOutage ? UNAVAILABLE : BAD_REQUEST, ErrorLine.of(known));
      }
      throw error instanceof RuntimeException unexpected
          ? unexpected
          : new IllegalStateException(error);
    }
  }
}

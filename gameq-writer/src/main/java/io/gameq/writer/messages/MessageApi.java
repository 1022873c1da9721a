package io.gameq.writer.messages;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
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
import io.gameq.terminal.ClassResource;
import io.gameq.terminal.ErrorLine;
import io.gameq.terminal.Shown;
import io.gameq.topic.Claimed;
import io.gameq.topic.Claims;
import io.gameq.topic.Message;
import io.gameq.topic.Publish;
import io.gameq.topic.Retry;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicAdmin;
import io.gameq.topic.TopicOptions;
import io.gameq.writer.admin.Topics;
import io.gameq.writer.config.AccessToken;
import io.gameq.writer.config.AccessToken.TokenRole;
import io.gameq.writer.config.WriterConfig.HttpSettings;
import io.gameq.writer.config.WriterConfig.MessageApiMode;
import io.gameq.writer.http.AccessTokens;
import io.gameq.writer.http.HttpEndpoint;
import io.gameq.writer.http.JsonBytes;
import io.gameq.writer.messages.MessageApi.Actions.ApiResponse;
import io.javalin.config.RoutesConfig;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.Context;
import io.javalin.http.ForbiddenResponse;
import io.javalin.http.HandlerType;
import io.javalin.http.HttpResponseException;
import io.javalin.http.HttpStatus;
import io.javalin.http.NotFoundResponse;
import io.javalin.http.ServiceUnavailableResponse;
import io.javalin.http.TooManyRequestsResponse;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages over HTTP: publish, look up, delete, take, extend, acknowledge, fail. Thread-safe. It
 * holds nothing: what was taken is held by its lease, what was published is in WAL and Redis.
 */
public final class MessageApi {
  private static final Logger LOG = LoggerFactory.getLogger(MessageApi.class);

  private static final String RETRY_AFTER_SECONDS = "1";

  /** Requests that hold a thread; those that wait for messages do not. */
  private static final int MOST_AT_ONCE = 64;

  /** A hundred messages of 40 KiB, or one of the largest. */
  private static final int MOST_BYTES = 4 << 20;

  /** Of all requests that are being read: each takes some times its size of memory meanwhile. */
  private static final int MOST_BYTES_AT_ONCE = 8 << 20;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpSettings settings;
  private final AccessTokens tokens;
  private final Semaphore room = new Semaphore(MOST_BYTES_AT_ONCE);
  private final MeterRegistry meters;
  private final Semaphore atOnce = new Semaphore(MOST_AT_ONCE);
  private volatile @Nullable Actions actions;
  private volatile String whyClosed = "the writer starts";

  public MessageApi(HttpSettings settings, MeterRegistry meters) {
    this.settings = settings;
    this.tokens = new AccessTokens(settings.tokens());
    this.meters = meters;
  }

  /** Adds its routes; none when the settings say so. */
  public void addTo(RoutesConfig routes) {
    if (settings.door() == MessageApiMode.NONE) {
      return;
    }
    routes.get("/ready/messages", this::ready);
    routes.get(
        Route.DESCRIPTION,
        context ->
            context
                .contentType("application/yaml")
                .result(ClassResource.text(MessageApi.class, "openapi.yaml")));
    for (Route route : Route.values()) {
      routes.addHttpHandler(
          HandlerType.findOrCreate(route.method), route.path, context -> answer(context, route));
    }
  }

  /** A writer that is paused, or waits for MySQL, takes messages all the same. */
  private void ready(Context context) {
    boolean isOpen = actions != null;
    context.status(isOpen ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    context.result(isOpen ? "ready\n" : "not ready: " + whyClosed + "\n");
  }

  /**
   * Answers from now on.
   *
   * @param mysql where the audit log is
   */
  public void opens(GameQueue queue, MySql mysql) {
    actions = new Actions(queue, mysql);
  }

  /** Answers 503 from now on; requests that wait are answered when the node is closed. */
  public void closes() {
    whyClosed = "the writer stops";
    actions = null;
  }

  private void answer(Context context, Route route) {
    long began = System.nanoTime();
    context.header("Cache-Control", "no-store");
    CompletableFuture<ApiResponse> answer = begin(context, route).handle(MessageApi::result);
    if (answer.isDone()) {
      send(context, route, began, answer.join());
    } else {
      context.future(() -> answer.thenAccept(of -> send(context, route, began, of)));
    }
  }

  private CompletableFuture<ApiResponse> begin(Context context, Route route) {
    if (!atOnce.tryAcquire()) {
      return CompletableFuture.failedFuture(
          new TooManyRequestsResponse("too many requests at a time: try again"));
    }
    try {
      return act(context, route);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      atOnce.release();
    }
  }

  private static ApiResponse result(@Nullable ApiResponse answer, @Nullable Throwable error) {
    if (error == null) {
      return Objects.requireNonNull(answer);
    }
    if (error instanceof CompletionException && error.getCause() != null) {
      return result(null, error.getCause());
    }
    if (error instanceof HttpResponseException known) {
      HttpStatus status = HttpStatus.forStatus(known.getStatus());
      return ApiResponse.error(status, String.valueOf(known.getMessage()));
    }
    if (error instanceof TimeoutException || error instanceof CommitUnknownException) {
      return ApiResponse.error(
          HttpStatus.SERVICE_UNAVAILABLE,
          "it is not known whether Redis has it; to send it again does no harm: a key has one"
              + " message");
    }
    if (error instanceof GameQueueException known) {
      boolean isOutage = known.isOutage() || known instanceof ClosedException;
      return ApiResponse.error(
          isOutage ? HttpStatus.SERVICE_UNAVAILABLE : HttpStatus.BAD_REQUEST, ErrorLine.of(known));
    }
    LOG.error("a request for messages failed", error);
    return ApiResponse.error(
        HttpStatus.INTERNAL_SERVER_ERROR, "the writer failed at this: its log says more");
  }

  private void send(Context context, Route route, long began, ApiResponse answer) {
    HttpStatus status = answer.status();
    if (status == HttpStatus.SERVICE_UNAVAILABLE || status == HttpStatus.TOO_MANY_REQUESTS) {
      context.header("Retry-After", RETRY_AFTER_SECONDS);
    }
    context.status(status).contentType("application/json").result(answer.body().toString());
    Timer.builder("gameq.door.requests")
        .description("Requests for messages over HTTP, those that wait for messages too")
        .tag("route", Shown.lower(route))
        .tag("status", Integer.toString(status.getCode()))
        .register(meters)
        .record(System.nanoTime() - began, TimeUnit.NANOSECONDS);
  }

  private static CompletableFuture<ApiResponse> done(ApiResponse answer) {
    return CompletableFuture.completedFuture(answer);
  }

  private CompletableFuture<ApiResponse> act(Context context, Route route) {
    String topic = context.pathParam("topic");
    AccessToken token = require(context, route, topic);
    Actions act = actions;
    if (act == null) {
      throw new ServiceUnavailableResponse(whyClosed);
    }
    String group = context.queryParam("group");
    String key = context.pathParamMap().getOrDefault("key", "");
    return switch (route) {
      case TOPIC -> done(act.topic(topic));
      case DEFINE ->
          read(context, Definition.class, of -> done(act.define(topic, of, actor(token, context))));
      case PUBLISH_ONE ->
          read(context, PublishedBody.class, of -> act.publish(topic, key, group, of));
      case LOOK_UP -> {
        boolean isProgram = token.role() == TokenRole.MESSAGES;
        @Nullable Actor actor = isProgram ? null : actor(token, context);
        yield done(act.lookUp(topic, key, group, actor));
      }
      case DELETE -> act.delete(topic, key, group);
      case PUBLISH -> read(context, Publishes.class, of -> act.publish(topic, of));
      case TAKE -> read(context, Takes.class, of -> act.take(topic, of));
      case ACKNOWLEDGE -> read(context, Acknowledgements.class, of -> act.acknowledge(topic, of));
      case EXTEND -> read(context, Extensions.class, of -> done(act.extend(topic, of)));
      case FAIL -> read(context, Failures.class, of -> done(act.fail(topic, of)));
    };
  }

  /** The token of a request that may do this; else throws what answers it. */
  private AccessToken require(Context context, Route route, String topic) {
    HttpEndpoint.requireOwnPage(context, false);
    AccessToken token =
        tokens.require(context, "send a token of http.tokens: Authorization: Bearer TOKEN");
    if (route.changes && token.role() == TokenRole.READ) {
      throw new ForbiddenResponse("this token is for looking only: role messages is needed");
    }
    if (route == Route.DEFINE && !token.mayDefine()) {
      throw new ForbiddenResponse(
          "this token does not define topics: it needs define: true in http.tokens");
    }
    if (!token.allows(topic)) {
      throw new ForbiddenResponse("this token is not for topic '%s'".formatted(topic));
    }
    return token;
  }

  private static Actor actor(AccessToken token, Context context) {
    return new Actor(token.name(), "http " + context.ip());
  }

  // What requests say, as JSON names it; null where it is left out.

  /** Several messages: all or none. */
  record Publishes(@Nullable List<PublishedBody> messages) {}

  /** How many, and how long to wait for the first. */
  record Takes(@Nullable Integer max, @Nullable Long waitMillis) {}

  /** Messages that were handled. */
  record Acknowledgements(@Nullable List<String> claims) {}

  /** Leases that are to end so long from now. */
  record Extensions(@Nullable List<String> claims, @Nullable Long leaseMillis) {}

  /** Messages that are to be tried again. */
  record Failures(
      @Nullable List<String> claims,
      @Nullable String error,
      @Nullable Long afterMillis,
      @Nullable Boolean counts) {}

  /** A topic's options. */
  record Definition(
      @Nullable Integer slots,
      @Nullable Integer payloadBytes,
      @Nullable Long ageingMillis,
      @Nullable Long windowMillis,
      @Nullable Long leaseMillis,
      @Nullable Attempts retry) {}

  /** When a message that failed is tried again. */
  record Attempts(
      @Nullable List<Long> delaysMillis, @Nullable Boolean jitter, @Nullable Integer attempts) {}

  /** What there is. */
  enum Route {
    TOPIC("GET", "", false),
    DEFINE("PUT", "", true),
    PUBLISH_ONE("PUT", "/messages/<key>", true),
    LOOK_UP("GET", "/messages/<key>", false),
    DELETE("DELETE", "/messages/<key>", true),
    PUBLISH("POST", "/messages", true),
    TAKE("POST", "/take", true),
    ACKNOWLEDGE("POST", "/acknowledge", true),
    EXTEND("POST", "/extend", true),
    FAIL("POST", "/fail", true);

    static final String DESCRIPTION = "/api/openapi.yaml";

    final String method;

    /** As Javalin has it: {@code <key>} may hold slashes. */
    final String path;

    /** Whether it needs a token that may handle messages; else one that may look is enough. */
    final boolean changes;

    Route(String method, String path, boolean changes) {
      this.method = method;
      this.path = "/api/topics/{topic}" + path;
      this.changes = changes;
    }
  }

  /**
   * What comes of the body of a request; of an empty one all is left out.
   *
   * @param then is called while the request counts among those that are being read
   * @throws io.javalin.http.HttpResponseException naming what is wrong, without any value
   */
  private <T, R> R read(Context context, Class<T> type, Function<T, R> then) {
    AtomicInteger taken = new AtomicInteger();
    try {
      return then.apply(
          body(JsonBytes.read(context, MOST_BYTES, some -> take(some, taken)), context, type));
    } catch (IOException e) {
      throw JsonBytes.cut(e);
    } finally {
      room.release(taken.get());
    }
  }

  private void take(int bytes, AtomicInteger taken) {
    if (!room.tryAcquire(bytes)) {
      throw new TooManyRequestsResponse("too many requests are being read: try again");
    }
    taken.addAndGet(bytes);
  }

  private static <T> T body(byte[] bytes, Context context, Class<T> type) throws IOException {
    try {
      if (bytes.length == 0) {
        return JSON.readValue("{}", type);
      }
      JsonBytes.require(context);
      T read = JSON.readValue(bytes, type);
      if (read == null) {
        throw new BadRequestResponse("send a JSON object");
      }
      return read;
    } catch (UnrecognizedPropertyException e) {
      throw new BadRequestResponse(
          "'%s' is not known here: there is %s"
              .formatted(
                  path(e),
                  e.getKnownPropertyIds().stream()
                      .map(String::valueOf)
                      .sorted()
                      .collect(Collectors.joining(", "))));
    } catch (JsonMappingException e) {
      throw new BadRequestResponse("'%s' is not what it must be".formatted(path(e)));
    } catch (JacksonException e) {
      throw new BadRequestResponse("that is not JSON");
    }
  }

  /** Names and positions that we know, never a value. */
  private static String path(JsonMappingException e) {
    return e.getPath().stream()
        .map(of -> of.getFieldName() == null ? "[" + of.getIndex() + "]" : of.getFieldName())
        .map(name -> name.substring(0, Math.min(40, name.length())))
        .collect(Collectors.joining("."))
        .replace(".[", "[");
  }

  /** What each route does. Thread-safe. */
  static final class Actions {
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
    private final Map<String, CachedTopic> known = new ConcurrentHashMap<>();
    private final Semaphore waiting = new Semaphore(MOST_WAITING);

    private record CachedTopic(Topic<byte[]> topic, long sinceNanos) {}

    /** With MySQL for the audit log. */
    Actions(GameQueue queue, MySql mysql) {
      this.queue = queue;
      this.mysql = mysql;
    }

    /** A topic as it is defined; answers 404 when nobody has defined it. */
    private Topic<byte[]> find(String name) {
      CachedTopic of = known.get(name);
      if (of != null && System.nanoTime() - of.sinceNanos < KNOWN_NANOS) {
        return of.topic;
      }
      Optional<Topic<byte[]>> found = queue.definedTopic(name);
      if (found.isEmpty()) {
        known.remove(name);
        throw new NotFoundResponse(
            "there is no topic '%s': a node defines it, or PUT /api/topics/%s"
                .formatted(name, name));
      }
      known.put(name, new CachedTopic(found.get(), System.nanoTime()));
      return found.get();
    }

    ApiResponse topic(String name) {
      Topic<byte[]> topic = find(name);
      TopicAdmin.Counts counts = topic.counts();
      ObjectNode body = definition(topic);
      body.putObject("messages")
          .put("pending", counts.pending())
          .put("due", counts.due())
          .put("held", counts.held())
          .put("dead", counts.dead());
      return ApiResponse.ok(body);
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
    ApiResponse define(String name, Definition as, Actor actor) {
      TopicOptions options = options(as);
      boolean isNew = queue.definedTopic(name).isEmpty();
      if (isNew) {
        beforeDefining(name, actor);
      }
      try {
        return new ApiResponse(
            isNew ? HttpStatus.CREATED : HttpStatus.OK, definition(queue.topic(name, options)));
      } catch (GameQueueException e) {
        if (queue.definedTopic(name).isEmpty()) {
          throw e;
        }
        return ApiResponse.error(HttpStatus.CONFLICT, String.valueOf(e.getMessage()));
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
            ("there are %s topics, more are not watched: 'gameq-writer topics remove' removes one,"
                    + " a node may define more")
                .formatted(TopicSurvey.MOST_TOPICS));
      }
      AuditTable.add(mysql, actor, "topic define", "topic " + name, "");
    }

    CompletableFuture<ApiResponse> publish(
        String name, String key, @Nullable String group, PublishedBody body) {
      Topic<byte[]> topic = find(name);
      return queued(topic, List.of(body.message(key, group, topic.options().payloadBytes())));
    }

    CompletableFuture<ApiResponse> publish(String name, Publishes body) {
      List<PublishedBody> messages = body.messages() == null ? List.of() : body.messages();
      checkCount("messages", messages.size());
      Topic<byte[]> topic = find(name);
      int most = topic.options().payloadBytes();
      return queued(topic, messages.stream().map(of -> of.message(null, null, most)).toList());
    }

    private static CompletableFuture<ApiResponse> queued(
        Topic<byte[]> topic, List<Publish<byte[]>> messages) {
      return topic
          .publish(messages)
          .queued()
          .orTimeout(QUEUED_SECONDS, TimeUnit.SECONDS)
          .thenApply(
              nothing -> ApiResponse.ok(JSON.createObjectNode().put("published", messages.size())));
    }

    /**
     * A message with its payload.
     *
     * @param actor whoever looks, for the audit log; null for a program, which is given payloads
     */
    ApiResponse lookUp(String name, String key, @Nullable String group, @Nullable Actor actor) {
      Topic<byte[]> topic = find(name);
      if (actor != null) {
        String target = Topics.target(MessageId.of(name, group, key));
        AuditTable.add(mysql, actor, "topic show", target, "with payload");
      }
      Optional<Message<byte[]>> found = group == null ? topic.get(key) : topic.get(group, key);
      if (found.isEmpty()) {
        return ApiResponse.error(HttpStatus.NOT_FOUND, "there is no such message");
      }
      Message<byte[]> of = found.get();
      ObjectNode body =
          message(of.key(), of.group(), of.payload(), of.due(), of.since())
              .put("state", Shown.lower(of.state()))
              .put("priority", of.priority())
              .put("attempts", of.attempts());
      return ApiResponse.ok(of.error() == null ? body : body.put("error", of.error()));
    }

    /** With a record as JSON; the bytes where it is none, or where JSON does not hold all of it. */
    private static ObjectNode message(
        String key, @Nullable String group, byte @Nullable [] payload, Instant due, Instant since) {
      ObjectNode body = JSON.createObjectNode().put("key", key);
      if (group != null) {
        body.put("group", group);
      }
      if (payload != null) {
        PayloadText text = PayloadText.of(payload);
        boolean isRecord = text.form() == PayloadText.Form.RECORD;
        if (isRecord) {
          body.putRawValue("payload", new RawValue(text.text()));
        }
        if (!isRecord || !text.isExact()) {
          body.put("payloadBase64", Base64.getEncoder().encodeToString(payload));
        }
      }
      return body.put("due", due.toString()).put("since", since.toString());
    }

    CompletableFuture<ApiResponse> delete(String name, String key, @Nullable String group) {
      Topic<byte[]> topic = find(name);
      return (group == null ? topic.delete(key) : topic.delete(group, key))
          .queued()
          .orTimeout(QUEUED_SECONDS, TimeUnit.SECONDS)
          .thenApply(nothing -> ApiResponse.ok(JSON.createObjectNode()));
    }

    CompletableFuture<ApiResponse> take(String name, Takes body) {
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
      return taken.whenComplete((all, error) -> waiting.release()).thenApply(Actions::taken);
    }

    private static ApiResponse taken(List<Claimed<byte[]>> all) {
      ObjectNode body = JSON.createObjectNode();
      ArrayNode messages = body.putArray("messages");
      for (Claimed<byte[]> of : all) {
        messages.add(
            message(of.key(), of.group(), of.payload(), of.due(), of.since())
                .put("claim", of.claim())
                .put("fence", Long.toString(of.fence())) // JavaScript's numbers lose digits
                .put("attempt", of.attempt())
                .put("leaseMillis", of.lease().toMillis()));
      }
      return ApiResponse.ok(body);
    }

    CompletableFuture<ApiResponse> acknowledge(String name, Acknowledgements body) {
      List<String> claims = claims(body.claims());
      return find(name)
          .claims()
          .acknowledge(claims)
          .orTimeout(QUEUED_SECONDS, TimeUnit.SECONDS)
          .thenApply(lost -> outcome(claims, lost));
    }

    ApiResponse extend(String name, Extensions body) {
      List<String> claims = claims(body.claims());
      if (body.leaseMillis() == null) {
        throw new GameQueueException("'leaseMillis' is missing: when the lease ends, from now");
      }
      List<String> lost = find(name).claims().extend(claims, Duration.ofMillis(body.leaseMillis()));
      return outcome(claims, lost);
    }

    ApiResponse fail(String name, Failures body) {
      List<String> claims = claims(body.claims());
      String why = body.error() == null ? "failed" : body.error();
      if (why.length() > MOST_ERROR_CHARS) {
        throw new GameQueueException(
            "'error' has %s characters at most".formatted(MOST_ERROR_CHARS));
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
    private static ApiResponse outcome(List<String> claims, List<String> lost) {
      int done = claims.size() - lost.size();
      if (lost.isEmpty()) {
        return ApiResponse.ok(JSON.createObjectNode().put("done", done));
      }
      ApiResponse answer =
          ApiResponse.error(
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
    record ApiResponse(HttpStatus status, ObjectNode body) {
      static ApiResponse ok(ObjectNode body) {
        return new ApiResponse(HttpStatus.OK, body);
      }

      static ApiResponse error(HttpStatus status, String why) {
        return new ApiResponse(status, JSON.createObjectNode().put("error", why));
      }
    }
  }
}

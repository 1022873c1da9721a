package io.gameq.writer.messages;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import io.gameq.ClosedException;
import io.gameq.CommitUnknownException;
import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.terminal.ErrorLine;
import io.gameq.writer.config.AccessToken;
import io.gameq.writer.config.AccessToken.Role;
import io.gameq.writer.config.WriterConfig.DoorMode;
import io.gameq.writer.config.WriterConfig.HttpSettings;
import io.gameq.writer.http.AccessTokens;
import io.gameq.writer.http.HttpEndpoint;
import io.gameq.writer.http.JsonBytes;
import io.gameq.writer.messages.MessageActions.Answer;
import io.javalin.config.RoutesConfig;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.Context;
import io.javalin.http.ForbiddenResponse;
import io.javalin.http.HandlerType;
import io.javalin.http.HttpResponseException;
import io.javalin.http.HttpStatus;
import io.javalin.http.ServiceUnavailableResponse;
import io.javalin.http.TooManyRequestsResponse;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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
  private volatile @Nullable MessageActions actions;
  private volatile String whyClosed = "the writer starts";

  public MessageApi(HttpSettings settings, MeterRegistry meters) {
    this.settings = settings;
    this.tokens = new AccessTokens(settings.tokens());
    this.meters = meters;
  }

  /** Adds its routes; none when the settings say so. */
  public void addTo(RoutesConfig routes) {
    if (settings.door() == DoorMode.NONE) {
      return;
    }
    routes.get("/ready/messages", this::ready);
    routes.get(
        Route.DESCRIPTION,
        context -> context.contentType("application/yaml").result(description()));
    for (Route route : Route.values()) {
      routes.addHttpHandler(route.method, route.path, context -> answer(context, route));
    }
  }

  /** A writer that is paused, or waits for MySQL, takes messages all the same. */
  private void ready(Context context) {
    boolean isOpen = actions != null;
    context.status(isOpen ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    context.result(isOpen ? "ready\n" : "not ready: " + whyClosed + "\n");
  }

  private static String description() {
    try (InputStream file =
        Objects.requireNonNull(MessageApi.class.getResourceAsStream("openapi.yaml"))) {
      return new String(file.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Answers from now on.
   *
   * @param mysql where the audit log is
   */
  public void opens(GameQueue queue, MySql mysql) {
    actions = new MessageActions(queue, mysql);
  }

  /** Answers 503 from now on; requests that wait are answered when the node is closed. */
  public void closes() {
    whyClosed = "the writer stops";
    actions = null;
  }

  private void answer(Context context, Route route) {
    long began = System.nanoTime();
    context.header("Cache-Control", "no-store");
    CompletableFuture<Answer> answer = begin(context, route).handle(MessageApi::result);
    if (answer.isDone()) {
      send(context, route, began, answer.join());
    } else {
      context.future(() -> answer.thenAccept(of -> send(context, route, began, of)));
    }
  }

  private CompletableFuture<Answer> begin(Context context, Route route) {
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

  private static Answer result(@Nullable Answer answer, @Nullable Throwable error) {
    if (error == null) {
      return Objects.requireNonNull(answer);
    }
    if (error instanceof CompletionException && error.getCause() != null) {
      return result(null, error.getCause());
    }
    if (error instanceof HttpResponseException known) {
      HttpStatus status = HttpStatus.forStatus(known.getStatus());
      return Answer.error(status, String.valueOf(known.getMessage()));
    }
    if (error instanceof TimeoutException || error instanceof CommitUnknownException) {
      return Answer.error(
          HttpStatus.SERVICE_UNAVAILABLE,
          "it is not known whether Redis has it; to send it again does no harm: a key has one"
              + " message");
    }
    if (error instanceof GameQueueException known) {
      boolean isOutage = known.isOutage() || known instanceof ClosedException;
      return Answer.error(
          isOutage ? HttpStatus.SERVICE_UNAVAILABLE : HttpStatus.BAD_REQUEST, ErrorLine.of(known));
    }
    LOG.error("a request for messages failed", error);
    return Answer.error(
        HttpStatus.INTERNAL_SERVER_ERROR, "the writer failed at this: its log says more");
  }

  private void send(Context context, Route route, long began, Answer answer) {
    HttpStatus status = answer.status();
    if (status == HttpStatus.SERVICE_UNAVAILABLE || status == HttpStatus.TOO_MANY_REQUESTS) {
      context.header("Retry-After", RETRY_AFTER_SECONDS);
    }
    context.status(status).contentType("application/json").result(answer.body().toString());
    Timer.builder("gameq.door.requests")
        .description("Requests for messages over HTTP, those that wait for messages too")
        .tag("route", route.name().toLowerCase(Locale.ROOT))
        .tag("status", Integer.toString(status.getCode()))
        .register(meters)
        .record(System.nanoTime() - began, TimeUnit.NANOSECONDS);
  }

  private static CompletableFuture<Answer> done(Answer answer) {
    return CompletableFuture.completedFuture(answer);
  }

  private CompletableFuture<Answer> act(Context context, Route route) {
    String topic = context.pathParam("topic");
    AccessToken token = require(context, route, topic);
    MessageActions act = actions;
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
        boolean isProgram = token.role() == Role.MESSAGES;
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
    if (route.changes && token.role() == Role.READ) {
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
    TOPIC(HandlerType.GET, "", false),
    DEFINE(HandlerType.PUT, "", true),
    PUBLISH_ONE(HandlerType.PUT, "/messages/<key>", true),
    LOOK_UP(HandlerType.GET, "/messages/<key>", false),
    DELETE(HandlerType.DELETE, "/messages/<key>", true),
    PUBLISH(HandlerType.POST, "/messages", true),
    TAKE(HandlerType.POST, "/take", true),
    ACKNOWLEDGE(HandlerType.POST, "/acknowledge", true),
    EXTEND(HandlerType.POST, "/extend", true),
    FAIL(HandlerType.POST, "/fail", true);

    static final String DESCRIPTION = "/api/openapi.yaml";

    final HandlerType method;

    /** As Javalin has it: {@code <key>} may hold slashes. */
    final String path;

    /** Whether it needs a token that may handle messages; else one that may look is enough. */
    final boolean changes;

    Route(HandlerType method, String path, boolean changes) {
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
}

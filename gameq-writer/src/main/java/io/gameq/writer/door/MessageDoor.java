package io.gameq.writer.door;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import io.gameq.GameQueue;
import io.gameq.mysql.MySqlPool.MySql;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.writer.config.AccessToken;
import io.gameq.writer.config.AccessToken.Role;
import io.gameq.writer.config.WriterConfig.DoorMode;
import io.gameq.writer.config.WriterConfig.HttpSettings;
import io.gameq.writer.door.DoorActions.DoorAnswer;
import io.gameq.writer.door.DoorActions.DoorTopics;
import io.gameq.writer.http.AccessTokens;
import io.gameq.writer.http.HttpEndpoint.Bearers;
import io.gameq.writer.http.JsonBytes;
import io.gameq.writer.http.OwnPage;
import io.javalin.config.RoutesConfig;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.Context;
import io.javalin.http.ForbiddenResponse;
import io.javalin.http.HandlerType;
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
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
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
public final class MessageDoor {
  private static final Logger LOG = LoggerFactory.getLogger(MessageDoor.class);

  private static final String RETRY_AFTER_SECONDS = "1";

  /** Requests that hold a thread; those that wait for messages do not. */
  private static final int MOST_AT_ONCE = 64;

  private final HttpSettings settings;
  private final DoorAccess access;
  private final DoorRequest request = new DoorRequest();
  private final DoorMeters meters;
  private final Semaphore atOnce = new Semaphore(MOST_AT_ONCE);
  private volatile @Nullable DoorActions actions;
  private volatile String whyClosed = "the writer starts";

  public MessageDoor(HttpSettings settings, MeterRegistry meters) {
    this.settings = settings;
    this.access = new DoorAccess(settings);
    this.meters = new DoorMeters(meters);
  }

  /** Adds its routes; none when the settings say so. */
  public void addTo(RoutesConfig routes) {
    if (settings.door() == DoorMode.NONE) {
      return;
    }
    routes.get("/ready/messages", this::ready);
    routes.get(
        DoorRoute.DESCRIPTION,
        context -> context.contentType("application/yaml").result(description()));
    for (DoorRoute route : DoorRoute.values()) {
      routes.addHttpHandler(route.method(), route.path(), context -> answer(context, route));
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
        Objects.requireNonNull(MessageDoor.class.getResourceAsStream("openapi.yaml"))) {
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
    actions = new DoorActions(new DoorTopics(queue), mysql);
  }

  /** Answers 503 from now on; requests that wait are answered when the node is closed. */
  public void closes() {
    whyClosed = "the writer stops";
    actions = null;
  }

  private void answer(Context context, DoorRoute route) {
    long began = System.nanoTime();
    context.header("Cache-Control", "no-store");
    CompletableFuture<DoorAnswer> answer;
    if (!atOnce.tryAcquire()) {
      answer = done(DoorAnswer.error(429, "too many requests at a time: try again"));
    } else {
      try {
        answer = begin(context, route);
      } catch (RuntimeException e) {
        answer = CompletableFuture.failedFuture(e);
      } finally {
        atOnce.release();
      }
    }
    CompletableFuture<DoorAnswer> begun = answer;
    if (begun.isDone()) {
      send(context, route, began, begun.handle(MessageDoor::result).join());
    } else {
      context.future(
          () ->
              begun
                  .handle(MessageDoor::result)
                  .thenAccept(result -> send(context, route, began, result)));
    }
  }

  private static DoorAnswer result(@Nullable DoorAnswer answer, @Nullable Throwable error) {
    if (error == null) {
      return Objects.requireNonNull(answer);
    }
    try {
      return DoorAnswer.of(error);
    } catch (RuntimeException e) {
      LOG.error("a request for messages failed", e);
      return DoorAnswer.error(500, "the writer failed at this: its log says more");
    }
  }

  private void send(Context context, DoorRoute route, long began, DoorAnswer answer) {
    if (answer.status() == DoorAnswer.UNAVAILABLE || answer.status() == 429) {
      context.header("Retry-After", RETRY_AFTER_SECONDS);
    }
    context
        .status(answer.status())
        .contentType("application/json")
        .result(answer.body().toString());
    meters.count(route, answer.status(), began);
  }

  private static CompletableFuture<DoorAnswer> done(DoorAnswer answer) {
    return CompletableFuture.completedFuture(answer);
  }

  private CompletableFuture<DoorAnswer> begin(Context context, DoorRoute route) {
    String topic = context.pathParam("topic");
    AccessToken token = access.require(context, route, topic);
    DoorActions act = actions;
    if (act == null) {
      throw new ServiceUnavailableResponse(whyClosed);
    }
    String group = context.queryParam("group");
    return switch (route) {
      case TOPIC -> done(act.topic(topic));
      case DEFINE ->
          request.read(
              context,
              DoorBodies.Definition.class,
              body -> done(act.define(topic, body, actor(token, context))));
      case PUBLISH_ONE ->
          request.read(
              context, PublishedBody.class, body -> act.publish(topic, key(context), group, body));
      case LOOK_UP -> {
        boolean isProgram = token.role() == AccessToken.Role.MESSAGES;
        @Nullable Actor actor = isProgram ? null : actor(token, context);
        yield done(act.lookUp(topic, key(context), group, actor));
      }
      case DELETE -> act.delete(topic, key(context), group);
      case PUBLISH ->
          request.read(context, DoorBodies.Publishes.class, body -> act.publish(topic, body));
      case TAKE -> request.read(context, DoorBodies.Takes.class, body -> act.take(topic, body));
      case ACKNOWLEDGE ->
          request.read(
              context, DoorBodies.Acknowledgements.class, body -> act.acknowledge(topic, body));
      case EXTEND ->
          request.read(context, DoorBodies.Extensions.class, body -> done(act.extend(topic, body)));
      case FAIL ->
          request.read(context, DoorBodies.Failures.class, body -> done(act.fail(topic, body)));
    };
  }

  private static Actor actor(AccessToken token, Context context) {
    return new Actor(token.name(), "http " + context.ip());
  }

  private static String key(Context context) {
    return context.pathParam("key");
  }

  /** Requests by route and status. Thread-safe. */
  static final class DoorMeters {
    private final MeterRegistry meters;

    DoorMeters(MeterRegistry meters) {
      this.meters = meters;
    }

    void count(DoorRoute route, int status, long beganNanos) {
      Timer.builder("gameq.door.requests")
          .description("Requests for messages over HTTP, those that wait for messages too")
          .tag("route", route.label())
          .tag("status", Integer.toString(status))
          .register(meters)
          .record(System.nanoTime() - beganNanos, TimeUnit.NANOSECONDS);
    }
  }

  /** What requests say, as JSON names it; null where it is left out. Stateless. */
  static final class DoorBodies {
    private DoorBodies() {}

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
  }

  /** Who may do what at the door. Thread-safe. */
  static final class DoorAccess {
    private final Bearers bearers;

    DoorAccess(HttpSettings settings) {
      this.bearers = new Bearers(new AccessTokens(settings.tokens()));
    }

    /** The token of a request that may do this; else throws what answers it. */
    AccessToken require(Context context, DoorRoute route, String topic) {
      OwnPage.require(context, false);
      AccessToken token =
          bearers.token(context, "send a token of http.tokens: Authorization: Bearer TOKEN");
      if (route.changes() && token.role() == Role.READ) {
        throw new ForbiddenResponse("this token is for looking only: role messages is needed");
      }
      if (route == DoorRoute.DEFINE && !token.mayDefine()) {
        throw new ForbiddenResponse(
            "this token does not define topics: it needs define: true in http.tokens");
      }
      if (!token.allows(topic)) {
        throw new ForbiddenResponse("this token is not for topic '%s'".formatted(topic));
      }
      return token;
    }
  }

  /** What there is at the door. */
  enum DoorRoute {
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

    private final String method;
    private final String path;
    private final boolean changes;

    DoorRoute(String method, String path, boolean changes) {
      this.method = method;
      this.path = path;
      this.changes = changes;
    }

    HandlerType method() {
      return HandlerType.findOrCreate(method);
    }

    /** As Javalin has it: {@code <key>} may hold slashes. */
    String path() {
      return "/api/topics/{topic}" + path;
    }

    /** Whether it needs a token that may handle messages; else one that may look is enough. */
    boolean changes() {
      return changes;
    }

    /** As it stands in meters. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Reads what requests say, up to a limit. Thread-safe. */
  static final class DoorRequest {
    /** A hundred messages of 40 KiB, or one of the largest. */
    static final int MOST_BYTES = 4 << 20;

    /** Of all requests that are being read: each takes some times its size of memory meanwhile. */
    private static final int MOST_BYTES_AT_ONCE = 8 << 20;

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Semaphore room = new Semaphore(MOST_BYTES_AT_ONCE);

    /**
     * What comes of the body of a request; of an empty one all is left out.
     *
     * @param then is called while the request counts among those that are being read
     * @throws io.javalin.http.HttpResponseException naming what is wrong, without any value
     */
    <T, R> R read(Context context, Class<T> type, Function<T, R> then) {
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
}

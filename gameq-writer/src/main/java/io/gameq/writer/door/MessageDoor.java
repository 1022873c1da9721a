package io.gameq.writer.door;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.GameQueue;
import io.gameq.mysql.MySql;
import io.gameq.mysql.tables.AuditTable.Actor;
import io.gameq.writer.config.AccessToken;
import io.gameq.writer.config.DoorMode;
import io.gameq.writer.config.HttpSettings;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpStatus;
import io.javalin.http.ServiceUnavailableResponse;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
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
}

package io.gameq.writer.door;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.Retry;
import io.gameq.Topic;
import io.gameq.TopicOptions;
import io.gameq.writer.door.DoorBodies.Attempts;
import io.gameq.writer.door.DoorBodies.Definition;
import io.javalin.http.NotFoundResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** The topics that requests name, as they are defined. Thread-safe. */
final class DoorTopics {
  /** Somebody may remove a definition and make another one. */
  private static final long KNOWN_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final GameQueue queue;
  private final Map<String, Known> known = new ConcurrentHashMap<>();

  private record Known(Topic<byte[]> topic, long sinceNanos) {}

  DoorTopics(GameQueue queue) {
    this.queue = queue;
  }

  /** A topic; answers 404 when nobody has defined it. */
  Topic<byte[]> get(String name) {
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

  /** What a definition comes to. */
  sealed interface Defined {
    /** It is there, and was before unless {@code isNew}. */
    record As(Topic<byte[]> topic, boolean isNew) implements Defined {}

    /** Another one is there. */
    record Differently(String why) implements Defined {}
  }

  /**
   * Defines a topic.
   *
   * @param before is run before one that is new is defined
   * @throws GameQueueException when an option is out of range
   */
  Defined define(String name, Definition as, Runnable before) {
    TopicOptions options = options(as);
    boolean isNew = queue.definedTopic(name).isEmpty();
    if (isNew) {
      before.run();
    }
    try {
      return new Defined.As(queue.topic(name, options), isNew);
    } catch (GameQueueException e) {
      if (queue.definedTopic(name).isEmpty()) {
        throw e;
      }
      return new Defined.Differently(String.valueOf(e.getMessage()));
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
}

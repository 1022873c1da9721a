package io.gameq.metrics;

import io.gameq.GameQueue;
import io.gameq.GameQueueException;
import io.gameq.node.NodeQueue;
import io.gameq.sign.NodeCounts;
import io.gameq.sign.NodeCounts.CommitOutcome;
import io.gameq.sign.NodeCounts.CommitTimes;
import io.gameq.sign.NodeSign;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The meters of a game node, for the game's own registry: {@code new
 * GameQueueMetrics(queue).bindTo(registry)}. A scrape asks no server and waits for nobody.
 * Immutable; thread-safe.
 *
 * <p>Needs {@code io.micrometer:micrometer-core}, which gameq-core does not bring: a game without
 * it has no use for this class, and everything else of gameq works.
 */
public final class GameQueueMetrics implements MeterBinder {
  private static final double MILLIS = 1e3;

  private final NodeQueue node;
  private final Tags tags;

  /**
   * The meters of a queue, with the tag {@code namespace} alone.
   *
   * @param queue that {@link GameQueue#open} returned
   * @throws GameQueueException when it is another one
   */
  public GameQueueMetrics(GameQueue queue) {
    this(queue, List.of());
  }

  /**
   * The meters of a queue.
   *
   * @param queue that {@link GameQueue#open} returned
   * @param tags that all of them get beside {@code namespace}, such as one that names the node
   *     where a process has several
   * @throws GameQueueException when it is another queue
   */
  public GameQueueMetrics(GameQueue queue, Iterable<Tag> tags) {
    if (!(queue instanceof NodeQueue metered)) {
      throw new GameQueueException(
          "give GameQueueMetrics the queue that GameQueue.open returned, not "
              + queue.getClass().getName());
    }
    this.node = metered;
    this.tags = Tags.of("namespace", metered.namespace()).and(tags);
  }

  /**
   * Registers all meters. How long commits take is told to the registry that was bound last alone,
   * on gameq's own threads: one that throws is not told again. After the node was closed the meters
   * stay as they were.
   */
  @Override
  public void bindTo(MeterRegistry registry) {
    NodeCounts counts = node.counts();
    for (CommitOutcome outcome : CommitOutcome.values()) {
      FunctionCounter.builder("gameq.node.commits", counts, of -> of.commits(outcome))
          .description("Commits by what became of them, as far as Redis")
          .tags(tags.and("outcome", outcome.tag()))
          .register(registry);
    }
    count(registry, "rows", "Rows that Redis was given", of -> of.rows.sum());
    count(
        registry, "rows.merged", "Of these, that replaced one that waited", of -> of.merged.sum());
    count(registry, "sessions.lost", "Sessions that others took over", of -> of.sessionsLost.sum());
    count(registry, "heals", "Healings after a connection broke", of -> of.heals.sum());
    count(registry, "replayed", "WAL records put back into Redis", of -> of.replayed.sum());
    count(registry, "conflicts", "Rows that were reported as lost", of -> of.conflicts.sum());
    gauge(registry, "sessions", null, "Owners that are open", of -> of.sessions().sessions());
    gauge(
        registry,
        "waiting",
        null,
        "Commits that Redis has not answered",
        of -> of.commits().waiting());
    gauge(
        registry,
        "journaled",
        null,
        "Commits that the WAL has and Redis has not answered",
        of -> of.wal().journaled());
    gauge(
        registry,
        "room.used",
        null,
        "Share of the room for commits that wait, 0 to 1",
        of -> of.commits().room());
    Gauge.builder("gameq.node.callbacks", node, NodeQueue::callbacks)
        .description("Calls of the game's own code that wait for its executor")
        .tags(tags)
        .register(registry);
    gauge(registry, "wal", "bytes", "Size of the WAL", of -> of.wal().walBytes());
    gauge(registry, "wal.max", "bytes", "At which it is full", of -> of.wal().walMaxBytes());
    gauge(
        registry,
        "oldest",
        "seconds",
        "How long the oldest change waits that is not known to be in MySQL",
        of -> of.wal().oldestMillis() / MILLIS);
    gauge(registry, "mysql", null, "1 while MySQL answers", of -> of.mysql() ? 1 : 0);
    Gauge.builder("gameq.node.healed", node, of -> of.isHealed() ? 1 : 0)
        .description("1 while Redis is there and has all that this node knows")
        .tags(tags)
        .register(registry);
    CommitTimes timers = new CommitTimers(registry, tags);
    counts.tellTimes(timers);
  }

  private void count(
      MeterRegistry registry, String name, String description, ToDoubleFunction<NodeCounts> value) {
    FunctionCounter.builder("gameq.node." + name, node.counts(), value)
        .description(description)
        .tags(tags)
        .register(registry);
  }

  private void gauge(
      MeterRegistry registry,
      String name,
      @Nullable String unit,
      String description,
      ToDoubleFunction<NodeSign> value) {
    Gauge.builder("gameq.node." + name, node, of -> value.applyAsDouble(of.sign()))
        .description(description)
        .baseUnit(unit)
        .tags(tags)
        .register(registry);
  }
}

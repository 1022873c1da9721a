package io.gameq.topic;

import io.gameq.commit.CommitSender;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.topic.DefinedTopic;
import io.gameq.redis.topic.DefinedTopics;
import io.gameq.redis.topic.TopicNotices;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connection over which a subscription takes messages, and whether it may now. Used by the
 * consumer's thread; {@link #pause} and {@link #isTaking} are for any.
 */
final class TakingWay implements AutoCloseable {
  /**
   * After a failover other nodes put back acknowledgements that the new primary never saw: they
   * notice within a second, and take two to put them back.
   */
  private static final long AFTER_FAILOVER_NANOS = TimeUnit.SECONDS.toNanos(3);

  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final TopicNode node;
  private final String topic;
  private final TopicNotices notices;
  private final ControlConnection control;
  private @Nullable String server;
  private long lookedNanos;

  /** Null while Redis has lost it: whether it is paused is not known then. */
  private @Nullable DefinedTopic defined;

  private boolean isPaused;
  private boolean isTaking;

  TakingWay(TopicNode node, String topic, TopicNotices notices) {
    this.node = node;
    this.topic = topic;
    this.notices = notices;
    this.control = node.connection();
  }

  /**
   * The connection to the server that this node has healed on; null while it has not. Looks once a
   * second whether operators paused the topic or gave it a rate, and that notices come.
   *
   * @throws io.gameq.GameQueueException when Redis does not answer
   */
  @Nullable RedisConnection connection() {
    CommitSender sender = node.sender();
    if (!sender.isHealed()) {
      return null;
    }
    ControlConnection.Connected connected = control.connected();
    if (!sender.hasHealedOn(connected.runId())) {
      if (sender.hasConnectedSince(connected.sinceNanos())) {
        control.giveUp(connected.redis()); // the newer of two connections is more likely right
      } else {
        sender.healSoon(connected);
      }
      return null;
    }
    boolean isOther = !connected.runId().equals(server);
    if (isOther && server != null) {
      notices.close(); // an old server may keep the subscription, and nobody publishes there
    }
    server = connected.runId();
    if (isOther || System.nanoTime() - lookedNanos > LOOK_NANOS) {
      lookedNanos = System.nanoTime();
      notices.keepSubscribed();
      defined = look(connected.redis());
    }
    return connected.redis();
  }

  private @Nullable DefinedTopic look(RedisConnection redis) {
    DefinedTopic of =
        control
            .call(redis, on -> Optional.ofNullable(DefinedTopics.find(on, node.namespace(), topic)))
            .orElse(null);
    if (of == null) {
      node.topicIsMissing().run();
    }
    return of;
  }

  /** Messages a second that all nodes together may take, as {@link #connection} saw it; 0: any. */
  double topicRate() {
    return defined == null ? 0 : defined.perSecond();
  }

  /** A connection that does not answer: the next one is new. */
  void giveUp(RedisConnection redis) {
    control.giveUp(redis);
  }

  /**
   * Begins to take messages; false when none may be taken now, as when the topic is paused, or when
   * Redis has lost whether it is.
   */
  synchronized boolean begin() {
    long healed = node.sender().healedElsewhereNanos();
    isTaking =
        !isPaused
            && defined != null
            && defined.pause() == null
            && (healed == 0 || System.nanoTime() - healed > AFTER_FAILOVER_NANOS);
    return isTaking;
  }

  /** What was taken is with the handlers. */
  synchronized void end() {
    isTaking = false;
  }

  /** Whether something is being taken; nothing is begun while this is paused. */
  synchronized boolean isTaking() {
    return isTaking;
  }

  synchronized void pause(boolean now) {
    isPaused = now;
  }

  @Override
  public void close() {
    notices.close();
    control.close();
  }
}

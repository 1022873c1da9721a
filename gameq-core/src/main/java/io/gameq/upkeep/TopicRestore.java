package io.gameq.upkeep;

import io.gameq.agent.AgentRunner.Agent;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.topic.DefinedTopic;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Puts the topics that MySQL has into Redis, after the sender has healed, and when a consumer
 * misses one. {@link #soon} is for any thread, the rest for that of the upkeep.
 */
public final class TopicRestore implements Agent {
  /** When a server is away, or Redis loses them again. */
  private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final TopicTable topics;
  private final ControlConnection redis;
  private final String namespace;
  private final Runnable wake;
  private long doneNanos = System.nanoTime() - AGAIN_NANOS;
  private volatile boolean isDue;

  /** Wakes whoever runs it when it has work. */
  public TopicRestore(TopicTable topics, ControlConnection redis, String namespace, Runnable wake) {
    this.topics = topics;
    this.redis = redis;
    this.namespace = namespace;
    this.wake = wake;
  }

  /** Redis may lack some. */
  public void soon() {
    isDue = true;
    wake.run();
  }

  @Override
  public String name() {
    return "put topics back into Redis";
  }

  @Override
  public int doWork() {
    if (!isDue || idleNanos() > 0) {
      return 0;
    }
    isDue = false; // first: Redis may lose them at this moment
    doneNanos = System.nanoTime();
    boolean isDone = false;
    try {
      List<DefinedTopic> all = topics.all();
      isDone =
          redis.call(
              connection -> {
                DefinedTopic.put(connection, namespace, all);
                return true;
              });
    } finally {
      isDue |= !isDone;
    }
    return 1;
  }

  @Override
  public long idleNanos() {
    return isDue ? Math.max(0, doneNanos + AGAIN_NANOS - System.nanoTime()) : Long.MAX_VALUE;
  }
}

package io.gameq.topic;

import io.gameq.RedisUnavailableException;
import io.gameq.agent.Agent;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.topic.TakenMessage;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The work of a subscription between Redis and its handlers: sends what became of messages, then
 * takes as many as there are free handlers for, from the slots where something is due. Used by one
 * thread.
 *
 * <p>Nothing is taken ahead of a free handler: a lease is not to run out in a queue.
 */
final class Taking implements Agent {
  /** Handled messages without an answer of Redis, beyond which no more are taken. */
  private static final int MOST_OPEN = 20_000;

  /** While it may not take: how soon to look again. */
  static final long HELD_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Source source;
  private final int batch;
  private final Pace pace;
  private final Outcomes outcomes;
  private final Workers workers;
  private boolean isHeldUp;

  /** Where messages come from. */
  record Source(String topic, TakingWay way, SlotTakes takes) {}

  /** With {@code batch} messages for a handler at most. */
  Taking(Source source, int batch, Pace pace, Outcomes outcomes, Workers workers) {
    this.source = source;
    this.batch = batch;
    this.pace = pace;
    this.outcomes = outcomes;
    this.workers = workers;
  }

  @Override
  public String name() {
    return "take messages of topic '" + source.topic() + "'";
  }

  @Override
  public int doWork() {
    isHeldUp = true;
    int done = outcomes.commitAcks();
    RedisConnection redis = source.way().connection();
    if (redis == null) {
      return done;
    }
    try {
      return done + outcomes.nack(redis) + take(redis);
    } catch (RedisUnavailableException e) {
      source.way().giveUp(redis);
      throw e;
    }
  }

  private int take(RedisConnection redis) {
    int room = room();
    if (!source.way().begin()) {
      return 0;
    }
    try {
      isHeldUp = room == 0 && pace.messages() > 0; // a handler that ends wakes it
      return room > 0 ? take(redis, room) : 0;
    } finally {
      source.way().end();
    }
  }

  private int room() {
    if (outcomes.open() > MOST_OPEN) {
      return 0;
    }
    int free = Math.max(0, pace.handlers() - workers.busy());
    return Math.min(free * batch, pace.messages());
  }

  /** As many as the handlers have room for and the topic's rate grants. */
  private int take(RedisConnection redis, int room) {
    SlotTakes.Taken of = source.takes().take(redis, source.way().topicRate(), room);
    if (of == null) {
      return 0;
    }
    of.exhausted().forEach(taken -> outcomes.giveUp(taken, source.takes().lease()));
    List<TakenMessage> taken = of.messages();
    pace.took(taken.size());
    for (int from = 0; from < taken.size(); from += batch) {
      workers.run(taken.subList(from, Math.min(taken.size(), from + batch)), of.leaseEndNanos());
    }
    if (of.failure() != null) {
      throw of.failure(); // is logged
    }
    return taken.size();
  }

  @Override
  public long idleNanos() {
    return isHeldUp
        ? HELD_UP_NANOS
        : Math.max(source.takes().waitNanos(source.way().topicRate()), pace.waitNanos());
  }

  @Override
  public void close() {
    source.way().close();
  }
}

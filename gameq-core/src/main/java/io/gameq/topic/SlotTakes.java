package io.gameq.topic;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.topic.TakeScript;
import io.gameq.redis.topic.TakenMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes what is due of a topic, from several slots in one round trip, and no more than the topic's
 * rate grants. Used by one thread.
 */
final class SlotTakes {
  private final SlotKeys[] slots;
  private final Duration lease;
  private final TakeScript take;
  private final SlotTimes times;
  private final TopicShare share;

  /**
   * What was taken.
   *
   * @param exhausted taken as well, but they had all their attempts
   * @param leaseEndNanos of all of them, by System.nanoTime
   * @param failure of some slots, to be thrown once the rest is with its handlers; null for none
   */
  record Taken(
      List<TakenMessage> messages,
      List<TakenMessage> exhausted,
      long leaseEndNanos,
      @Nullable GameQueueException failure) {
    private Taken with(GameQueueException other) {
      return new Taken(messages, exhausted, leaseEndNanos, failure == null ? other : failure);
    }
  }

  /** From these slots of the namespace, for so long. */
  SlotTakes(SlotKeys[] slots, Duration lease, TakeScript take, SlotTimes times, TopicShare share) {
    this.slots = slots;
    this.lease = lease;
    this.take = take;
    this.times = times;
    this.share = share;
  }

  SlotTimes times() {
    return times;
  }

  Duration lease() {
    return lease;
  }

  /** Until there may be something to take, ns; 0 for now. */
  long waitNanos(double perSecond) {
    return Math.max(times.waitNanos(), perSecond == 0 ? 0 : share.waitNanos());
  }

  /**
   * Takes from where something is due now; null when that is nowhere, or the rate grants nothing.
   *
   * @param perSecond messages that all nodes of the topic together may take; 0 for any number
   * @param room how many messages at most
   */
  @Nullable Taken take(RedisConnection redis, double perSecond, int room) {
    if (perSecond == 0) {
      return takeGranted(redis, room);
    }
    int granted = times.waitNanos() > 0 ? 0 : share.ask(redis, perSecond, room);
    Taken taken = granted == 0 ? null : takeGranted(redis, granted);
    try {
      share.giveBack(redis, perSecond, granted - (taken == null ? 0 : taken.messages().size()));
    } catch (RedisUnavailableException e) {
      if (taken == null) {
        throw e;
      }
      return taken.with(e); // what was taken goes to its handlers first
    }
    return taken;
  }

  private @Nullable Taken takeGranted(RedisConnection redis, int room) {
    List<TakeScript.Share> shares = new ArrayList<>();
    for (SlotTimes.Share share : times.due(room)) {
      shares.add(new TakeScript.Share(slots[share.slot()], share.most()));
    }
    if (shares.isEmpty()) {
      return null;
    }
    long leaseEnd = System.nanoTime() + lease.toNanos(); // no later than Redis says
    List<TakeScript.Answer> answers = take.callEach(redis, shares);
    List<TakenMessage> taken = new ArrayList<>();
    List<TakenMessage> exhausted = new ArrayList<>(0);
    GameQueueException failure = null;
    for (int i = 0; i < answers.size(); i++) {
      TakeScript.Batch of = answers.get(i).batch();
      if (of == null) {
        failure = answers.get(i).error();
        continue; // the poll looks there again
      }
      times.looked(shares.get(i).slot().slot(), of.waitMillis());
      exhausted.addAll(of.exhausted());
      taken.addAll(of.taken());
    }
    return new Taken(taken, exhausted, leaseEnd, failure);
  }
}

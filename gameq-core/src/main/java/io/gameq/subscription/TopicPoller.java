package io.gameq.subscription;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.commit.CommitSender;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.DurableNotices.Subscribed;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.topic.ConsumerScripts;
import io.gameq.redis.topic.ConsumerScripts.Share;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.redis.topic.DefinedTopic;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes what is due of a topic, over a connection of its own: while it may, from several slots in
 * one round trip, and no more than the topic's rate grants. Used by the consumer's thread; {@link
 * #pause}, {@link #isTaking} and {@link #noticeAll} are for any.
 */
final class TopicPoller implements AutoCloseable {
  /** While it may not take: how soon to look again. */
  static final long HELD_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /**
   * After a failover other nodes put back acknowledgements that the new primary never saw: they
   * notice within a second, and take two to put them back.
   */
  private static final long AFTER_FAILOVER_NANOS = TimeUnit.SECONDS.toNanos(3);

  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Until the topic's rate is asked again: it may be another one by then. */
  private static final long MOST_WAIT_MILLIS = 1_000;

  private final OpenTopic<?> topic;
  private final Acknowledgements acks;
  private final SlotTimes times;
  private final Subscribed notices;
  private final ControlConnection control;
  private @Nullable String server;
  private long lookedNanos;

  /** Null while Redis has lost it: whether it is paused is not known then. */
  private @Nullable DefinedTopic defined;

  /** When the topic's rate may grant something again, by System.nanoTime. */
  private long grantNanos = System.nanoTime();

  private boolean isPaused;
  private boolean isTaking;

  /** Nothing may be taken: the node has not healed, or the topic is paused. */
  private boolean isHeldUp;

  /**
   * What was taken.
   *
   * @param leaseEndNanos of all of them, by System.nanoTime
   */
  record Batch(List<TakenMessage> messages, long leaseEndNanos) {
    /** Some of the messages, at most so many. */
    Batch part(int from, int most) {
      int to = from + Math.min(messages.size() - from, most);
      return new Batch(List.copyOf(messages.subList(from, to)), leaseEndNanos);
    }
  }

  /** With {@code wake} to be run when something is due soon. */
  TopicPoller(OpenTopic<?> topic, Acknowledgements acks, Runnable wake) {
    this.topic = topic;
    this.acks = acks;
    this.times = new SlotTimes(topic.definition.slots());
    this.notices =
        new Subscribed(
            topic.node.connector(),
            (channel, slot) -> {
              times.notice(Integer.parseInt(slot));
              wake.run();
            },
            topic.node.config().namespace() + ":t:" + topic.name());
    this.control = new ControlConnection(topic.node.connector());
  }

  /**
   * A round of the consumer: sends what became of messages, then takes more from where something is
   * due now; none while the topic is paused. What had all its attempts is given up.
   *
   * @param room how many messages may be taken; not asked while this node has not healed
   * @param deliver has what was taken handled; called for one message at least
   * @return how much was done
   * @throws RedisUnavailableException when Redis does not answer: the next connection is new
   */
  int work(IntSupplier room, Consumer<Batch> deliver) {
    isHeldUp = true;
    int done = acks.commitAcks();
    RedisConnection redis = connection();
    if (redis == null) {
      return done;
    }
    try {
      done += acks.nack(redis);
      int most = room.getAsInt();
      return begin() && most > 0 ? done + take(redis, most, deliver) : done;
    } catch (RedisUnavailableException e) {
      control.giveUp(redis);
      throw e;
    } finally {
      end();
    }
  }

  /**
   * The connection to the server that this node has healed on; null while it has not. Looks once a
   * second whether operators paused the topic or gave it a rate, and that notices come.
   */
  private @Nullable RedisConnection connection() {
    CommitSender sender = topic.node.sender();
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
      notices.keep();
      defined = look(connected.redis());
      if (defined == null) {
        topic.node.topicIsMissing().run();
      }
    }
    return connected.redis();
  }

  private @Nullable DefinedTopic look(RedisConnection redis) {
    String namespace = topic.node.config().namespace();
    return control
        .call(redis, on -> Optional.ofNullable(DefinedTopic.find(on, namespace, topic.name())))
        .orElse(null);
  }

  /** False when the topic is paused, or Redis has lost whether it is. */
  private synchronized boolean begin() {
    long healed = topic.node.sender().healedElsewhereNanos();
    isTaking =
        !isPaused
            && defined != null
            && defined.pause() == null
            && (healed == 0 || System.nanoTime() - healed > AFTER_FAILOVER_NANOS);
    isHeldUp = !isTaking;
    return isTaking;
  }

  private synchronized void end() {
    isTaking = false;
  }

  /** Whether something is being taken; nothing is begun while this is paused. */
  synchronized boolean isTaking() {
    return isTaking;
  }

  synchronized void pause(boolean now) {
    isPaused = now;
  }

  /** Has all slots be looked at: something may be due in each. */
  void noticeAll() {
    times.noticeAll();
  }

  /** Whether the last round might take nothing, whatever is due. */
  boolean isHeldUp() {
    return isHeldUp;
  }

  /** Until there may be something to take, ns; 0 for now. */
  long waitNanos() {
    if (isHeldUp) {
      return HELD_UP_NANOS;
    }
    return Math.max(
        times.waitNanos(), topicRate() == 0 ? 0 : Math.max(0, grantNanos - System.nanoTime()));
  }

  /** Messages a second that all nodes together may take, as {@link #connection} saw it; 0: any. */
  private double topicRate() {
    return defined == null ? 0 : defined.perSecond();
  }

  /** Returns how many were taken; throws what failed in some slots once these are delivered. */
  private int take(RedisConnection redis, int room, Consumer<Batch> deliver) {
    long leaseEnd = System.nanoTime() + topic.options().lease().toNanos(); // no later than in Redis
    List<TakenMessage> taken = new ArrayList<>();
    GameQueueException failure =
        topicRate() == 0 ? takeFree(redis, room, taken) : takeGranted(redis, room, taken);
    if (!taken.isEmpty()) {
      deliver.accept(new Batch(taken, leaseEnd));
    }
    if (failure != null) {
      throw failure; // is logged
    }
    return taken.size();
  }

  /** Takes what the rate that all nodes of the topic share lets this one take now. */
  private @Nullable GameQueueException takeGranted(
      RedisConnection redis, int room, List<TakenMessage> taken) {
    if (times.waitNanos() > 0 || grantNanos - System.nanoTime() > 0) {
      return null;
    }
    ConsumerScripts.Grant grant = topic.scripts.grant(redis, topicRate(), room);
    if (grant.messages() == 0) {
      long millis = Math.min(MOST_WAIT_MILLIS, grant.waitMillis());
      grantNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
      return null;
    }
    GameQueueException failure = takeFree(redis, grant.messages(), taken);
    int unused = grant.messages() - taken.size();
    try {
      if (unused > 0) { // other nodes may take them
        ConsumerScripts.Grant ignored = topic.scripts.grant(redis, topicRate(), -unused);
      }
    } catch (RedisUnavailableException e) {
      return failure == null ? e : failure; // what was taken goes to its handlers first
    }
    return failure;
  }

  /** Takes at most so many; returns why some slots could not be taken from. */
  private @Nullable GameQueueException takeFree(
      RedisConnection redis, int room, List<TakenMessage> taken) {
    List<Share> shares = times.due(room);
    List<LuaScript.Answer<ConsumerScripts.Batch>> answers = topic.scripts.take(redis, shares);
    GameQueueException failure = null;
    for (int i = 0; i < answers.size(); i++) {
      ConsumerScripts.Batch of = answers.get(i).reply();
      if (of == null) {
        failure = answers.get(i).error();
        continue; // the poll looks there again
      }
      times.looked(shares.get(i).slot(), of.waitMillis());
      of.exhausted().forEach(acks::giveUp);
      taken.addAll(of.taken());
    }
    return failure;
  }

  @Override
  public void close() {
    notices.close();
    control.close();
  }

  /**
   * When to look into which slot of a topic: when its next message is due, when a notice came, and
   * every second in any case. One thread uses it; {@link #notice} and {@link #noticeAll} are for
   * any.
   */
  private static final class SlotTimes {
    /** A notice can be lost: so much later a message is found all the same. */
    private static final long POLL_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** By {@link #now}; Long.MAX_VALUE for never. */
    private final long[] next;

    private final AtomicIntegerArray noticed;
    private final long origin = System.nanoTime();
    private long poll;

    SlotTimes(int slots) {
      next = new long[slots];
      Arrays.fill(next, Long.MAX_VALUE);
      noticed = new AtomicIntegerArray(slots);
    }

    private long now() {
      return System.nanoTime() - origin;
    }

    /** Something is due soon in a slot; numbers that are none are ignored. */
    void notice(int slot) {
      if (slot >= 0 && slot < next.length) {
        noticed.set(slot, 1);
      }
    }

    /** Something may be due in every slot. */
    void noticeAll() {
      for (int slot = 0; slot < next.length; slot++) {
        noticed.set(slot, 1);
      }
    }

    /**
     * Where to look now, those that have waited longest first.
     *
     * @param room how many messages may be taken in all
     */
    List<Share> due(int room) {
      long now = now();
      boolean isPoll = now >= poll;
      if (isPoll) {
        poll = now + POLL_NANOS;
      }
      List<Integer> slots = new ArrayList<>();
      for (int slot = 0; slot < next.length; slot++) {
        if (noticed.get(slot) != 0 || isPoll) {
          next[slot] = Math.min(next[slot], now);
        }
        if (next[slot] <= now) {
          slots.add(slot);
        }
      }
      slots.sort(Comparator.comparingLong(slot -> next[slot]));
      List<Share> shares = new ArrayList<>();
      int left = room;
      for (int i = 0; i < slots.size() && left > 0; i++) {
        int most = (left + slots.size() - i - 1) / (slots.size() - i);
        left -= most;
        noticed.set(slots.get(i), 0); // before the look: a notice that comes meanwhile counts
        shares.add(new Share(slots.get(i), most));
      }
      return shares;
    }

    /**
     * What a look showed.
     *
     * @param waitMillis until the next message is due; 0 when there may be more now, -1 for none
     */
    void looked(int slot, long waitMillis) {
      next[slot] =
          waitMillis < 0 ? Long.MAX_VALUE : now() + TimeUnit.MILLISECONDS.toNanos(waitMillis);
    }

    /** Until something is to be looked at, ns; 0 for now. */
    long waitNanos() {
      long now = now();
      long first = poll;
      for (int slot = 0; slot < next.length; slot++) {
        first = Math.min(first, noticed.get(slot) != 0 ? now : next[slot]);
      }
      return Math.max(0, first - now);
    }
  }
}

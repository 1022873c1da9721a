package io.gameq.subscription;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.agent.RepeatedWarnings;
import io.gameq.commit.CommitSender;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.redis.ChannelListener;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.topic.ConsumerScripts;
import io.gameq.redis.topic.ConsumerScripts.Attempt;
import io.gameq.redis.topic.ConsumerScripts.Failure;
import io.gameq.redis.topic.ConsumerScripts.NackResult;
import io.gameq.redis.topic.ConsumerScripts.Share;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.redis.topic.DefinedTopic;
import io.gameq.topic.ClaimLostException;
import io.gameq.topic.Retry;
import io.gameq.topic.Subscription;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
  private final ChannelListener notices;
  private final ControlConnection control;

  /** In a topic of owners, as {@link ConsumerScripts#take(RedisConnection, List, String)}. */
  private final @Nullable String process;

  private final Consumer<RedisConnection> first;
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

  /** With {@code wake} to be run when something is due soon. */
  TopicPoller(OpenTopic<?> topic, Acknowledgements acks, Runnable wake) {
    this(topic, acks, wake, null, redis -> {});
  }

  /**
   * Of a topic of owners.
   *
   * @param process of what it handles; empty for owners that nobody handles; null of another topic
   * @param first what is done over the connection before anything is taken
   */
  TopicPoller(
      OpenTopic<?> topic,
      Acknowledgements acks,
      Runnable wake,
      @Nullable String process,
      Consumer<RedisConnection> first) {
    this.topic = topic;
    this.acks = acks;
    this.process = process;
    this.first = first;
    this.times = new SlotTimes(topic.definition().slots());
    this.notices =
        new ChannelListener(
            topic.node().connector(),
            (channel, notice) -> {
              int space = notice.indexOf(' '); // before the process whose messages they are
              if (space < 0 || notice.substring(space + 1).equals(process)) {
                times.notice(Integer.parseInt(space < 0 ? notice : notice.substring(0, space)));
                wake.run();
              }
            },
            topic.node().config().namespace() + ":t:" + topic.name());
    this.control = new ControlConnection(topic.node().connector());
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
  int work(IntSupplier room, Consumer<List<TakenMessage>> deliver) {
    isHeldUp = true;
    int done = acks.commitAcks();
    RedisConnection redis = connection();
    if (redis == null) {
      return done;
    }
    try {
      first.accept(redis);
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
    CommitSender sender = topic.node().sender();
    if (!sender.isHealed()) {
      return null;
    }
    PrimaryConnector.Opened connected = control.connected();
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
        topic.node().topicIsMissing().run();
      }
    }
    return connected.redis();
  }

  private @Nullable DefinedTopic look(RedisConnection redis) {
    String namespace = topic.node().config().namespace();
    return control
        .call(redis, on -> Optional.ofNullable(DefinedTopic.find(on, namespace, topic.name())))
        .orElse(null);
  }

  /** False when the topic is paused, or Redis has lost whether it is. */
  private synchronized boolean begin() {
    long healed = topic.node().sender().healedElsewhereNanos();
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
  private int take(RedisConnection redis, int room, Consumer<List<TakenMessage>> deliver) {
    List<TakenMessage> taken = new ArrayList<>();
    GameQueueException failure =
        topicRate() == 0 ? takeFree(redis, room, taken) : takeGranted(redis, room, taken);
    if (!taken.isEmpty()) {
      deliver.accept(taken);
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
    ConsumerScripts.Grant grant = topic.scripts().grant(redis, topicRate(), room);
    if (grant.messages() == 0) {
      long millis = Math.min(MOST_WAIT_MILLIS, grant.waitMillis());
      grantNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
      return null;
    }
    GameQueueException failure = takeFree(redis, grant.messages(), taken);
    int unused = grant.messages() - taken.size();
    try {
      if (unused > 0) { // other nodes may take them
        ConsumerScripts.Grant ignored = topic.scripts().grant(redis, topicRate(), -unused);
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
    List<LuaScript.Answer<ConsumerScripts.Batch>> answers =
        topic.scripts().take(redis, shares, process);
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

  /**
   * What became of messages, counted, and on its way to Redis: acknowledgements as commits, many in
   * each, so that the WAL has them first; failures by a script. What goes wrong is logged once a
   * minute. Any thread adds; the consumer's sends. What is lost with the process is handled again
   * when its lease has run out.
   */
  static final class Acknowledgements {
    /** In one commit: a script of so many holds Redis for a millisecond. */
    static final int MOST_TOGETHER = 500;

    /** Handled messages without an answer of Redis, beyond which no more are taken. */
    private static final int MOST_OPEN = 20_000;

    private static final Logger LOG = LoggerFactory.getLogger(Acknowledgements.class);
    private static final long LOG_EVERY_SECONDS = 60;

    /** Of an error, in characters: enough for its class and message. */
    private static final int MOST_ERROR_CHARS = 500;

    private final OpenTopic<?> topic;
    private final Retry retry;
    private final Runnable wake;

    private final Queue<MessageChange> acks = new ConcurrentLinkedQueue<>();

    /** Of commits of which one claim was lost: each alone now. */
    private final Queue<MessageChange> single = new ConcurrentLinkedQueue<>();

    private final Queue<Failure> nacks = new ConcurrentLinkedQueue<>();

    /** Handed in, without an answer of Redis, or waiting here. */
    private final AtomicInteger open = new AtomicInteger();

    private final RepeatedWarnings warnings = new RepeatedWarnings(LOG_EVERY_SECONDS);
    private final LongAdder handled = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder dead = new LongAdder();
    private final LongAdder lost = new LongAdder();

    /** With {@code wake} to have the consumer send what waits. */
    Acknowledgements(OpenTopic<?> topic, Runnable wake) {
      this.topic = topic;
      this.retry = topic.options().retry();
      this.wake = wake;
    }

    static ClaimLostException lost(MessageId id) {
      return new ClaimLostException(
          ("the lease of message %s ran out before it was acknowledged: it was, or will be,"
                  + " handled again; take less time, extend the lease, or open the topic with a"
                  + " longer one")
              .formatted(id));
    }

    void acknowledge(MessageChange.Ack ack) {
      open.incrementAndGet();
      acks.add(ack);
    }

    /**
     * An attempt failed.
     *
     * @param nextDueMillis of a recurring message, for when this was its last attempt; 0 for none
     */
    void fail(TakenMessage taken, String error, long nextDueMillis) {
      failed.increment();
      add(taken, backoffMillis(retry, taken.attempts()), Attempt.FAILED, cut(error), nextDueMillis);
    }

    /**
     * An outage was in the way: the attempt does not count.
     *
     * @param leastMillis until the next attempt; longer where a failure would wait longer
     */
    void putOff(TakenMessage taken, long leastMillis, String why) {
      failed.increment();
      long afterMillis = Math.max(jittered(leastMillis), backoffMillis(retry, taken.attempts()));
      add(taken, afterMillis, Attempt.PUT_OFF, cut(why), 0);
    }

    /** It was taken once more than it may be tried. */
    void giveUp(TakenMessage taken) {
      String why = "the lease of its last attempt ran out";
      long nextDueMillis = Schedule.nextDue(taken, topic.options().lease());
      add(taken, backoffMillis(retry, taken.attempts()), Attempt.FAILED, why, nextDueMillis);
    }

    /** Of nobody's fault: it waits in its place, and the attempt does not count. */
    void giveBack(TakenMessage taken) {
      giveBack(taken, 0, "whoever took it did not wait for it any more");
    }

    /** The same; all of its lane is looked at again so long from now, or once more comes. */
    void giveBack(TakenMessage taken, long afterMillis, String why) {
      add(taken, afterMillis, Attempt.GIVEN_BACK, cut(why), 0);
    }

    private void add(
        TakenMessage taken, long afterMillis, Attempt attempt, String why, long nextDue) {
      open.incrementAndGet();
      nacks.add(new Failure(taken, afterMillis, attempt, why, nextDue));
    }

    static String cut(String error) {
      return error.length() <= MOST_ERROR_CHARS ? error : error.substring(0, MOST_ERROR_CHARS);
    }

    /** How long until the attempt after one, the first of which is 1. */
    static long backoffMillis(Retry retry, int attempt) {
      int failure = Math.min(attempt, retry.delays().size());
      long millis = retry.delays().get(failure - 1).toMillis();
      return retry.jitter() ? jittered(millis) : millis;
    }

    private static long jittered(long millis) {
      return millis / 2 + ThreadLocalRandom.current().nextLong(millis / 2 + 1);
    }

    /** Whether so many have no answer of Redis that no more are taken. */
    boolean isFull() {
      return open.get() > MOST_OPEN;
    }

    /** How many messages have no answer of Redis yet. */
    int open() {
      return open.get();
    }

    /**
     * Hands acknowledgements to the sender; returns how many. Throws GameQueueException when it
     * takes none now: they wait here.
     */
    int commitAcks() {
      int most = Math.min(MOST_TOGETHER, topic.node().config().limits().commitRows());
      return commit(single, 1) + commit(acks, most);
    }

    private int commit(Queue<MessageChange> from, int most) {
      int done = 0;
      while (!from.isEmpty()) {
        List<MessageChange> some = poll(from, most);
        try {
          topic.node().commits().commit(some, failure -> told(some, failure));
        } catch (RuntimeException e) {
          from.addAll(some);
          throw e;
        }
        done += some.size();
      }
      return done;
    }

    private static <T> List<T> poll(Queue<T> from, int most) {
      List<T> some = new ArrayList<>();
      for (T one; some.size() < most && (one = from.poll()) != null; ) {
        some.add(one);
      }
      return some;
    }

    /** On the sender's thread. */
    private void told(List<MessageChange> some, @Nullable RuntimeException failure) {
      if (failure instanceof ClaimLostException && some.size() > 1) {
        single.addAll(some);
        wake.run();
        return;
      }
      if (failure == null) {
        handled(some.size());
      } else if (failure instanceof ClaimLostException) {
        lost();
      } else {
        notAcknowledged(some.size(), failure); // handled again when the lease has run out
      }
      open.addAndGet(-some.size());
    }

    /**
     * Tells Redis of failures, over a connection that nobody else uses meanwhile; returns how many.
     * Throws GameQueueException when Redis does not answer: they wait here, and their leases run
     * out if it takes long.
     */
    int nack(RedisConnection redis) {
      List<Failure> some = poll(nacks, MOST_TOGETHER);
      try {
        for (NackResult result : topic.scripts().nack(redis, some)) {
          if (result == NackResult.DEAD) {
            dead.increment();
            warn(
                "dead",
                () -> "a message of topic '%s' is a dead letter now".formatted(topic.name()));
          } else if (result == NackResult.CLAIM_LOST) {
            lost();
          } // else it is tried again, or a newer message has taken its place
        }
      } catch (GameQueueException e) {
        nacks.addAll(some);
        throw e;
      }
      open.addAndGet(-some.size());
      return some.size();
    }

    // --- counts

    void handled(int messages) {
      handled.add(messages);
    }

    void lost() {
      lost.increment();
      warn(
          "lost",
          () ->
              ("a lease of topic '%s' ran out before the acknowledgement: the message is handled"
                      + " again; handlers take longer than the lease")
                  .formatted(topic.name()));
    }

    void notAcknowledged(int messages, RuntimeException failure) {
      warn(
          "ack " + failure.getClass().getName(),
          () ->
              ("%s messages of topic '%s' were handled and not acknowledged, so they are handled"
                      + " again: %s")
                  .formatted(messages, topic.name(), failure.getMessage()));
    }

    /** Names the error's class alone: its message may hold what the game keeps to itself. */
    void warnOf(Throwable error) {
      String kind = error.getClass().getName();
      warn(
          kind,
          () ->
              "a handler of topic '%s' failed: %s; its messages are tried again"
                  .formatted(topic.name(), kind));
    }

    private void warn(String about, Supplier<String> text) {
      warnings.about(about, LOG::warn, text);
    }

    /**
     * What a subscription tells.
     *
     * @param running messages that handlers have now
     * @param handlers that may run at a time
     */
    Subscription.Counts counts(int running, int handlers) {
      return new Subscription.Counts(
          handled.sum(), failed.sum(), dead.sum(), lost.sum(), running, handlers);
    }
  }
}

package io.gameq.subscription;

import io.gameq.CommitReceipt;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.commit.MessageCommits;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageChangedException;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.owner.OwnerId;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.redis.topic.TopicMessages.FoundMessage;
import io.gameq.subscription.OpenTopic.Payloads;
import io.gameq.topic.Message;
import io.gameq.topic.Message.State;
import io.gameq.topic.OwnerHandler;
import io.gameq.topic.Publish;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BinaryOperator;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What of a topic changes messages by commits: checks them and encodes them, wherever they lie.
 * Thread-safe.
 */
public abstract class PublishedTopic<T> implements Topic<T> {
  /** Of the random rest before another merge, so that publishers do not meet again and again. */
  private static final long MOST_REST_NANOS = 2_000_000;

  /** Priority times ageing: added to any time, a double in Redis holds it to the millisecond. */
  private static final long MOST_PRIORITY_MILLIS = 1L << 52;

  final TopicDefinition definition;
  final TopicOptions options;
  final Payloads<T> payloads;
  private final MessageCommits commits;
  private final LongSupplier clock;
  private final Duration callTimeout;

  /**
   * A topic.
   *
   * @param clock of Redis, ms
   * @param callTimeout of a merge
   */
  protected PublishedTopic(
      TopicDefinition definition,
      TopicOptions options,
      Payloads<T> payloads,
      MessageCommits commits,
      LongSupplier clock,
      Duration callTimeout) {
    this.definition = definition;
    this.options = options;
    this.payloads = payloads;
    this.commits = commits;
    this.clock = clock;
    this.callTimeout = callTimeout;
  }

  @Override
  public String name() {
    return definition.topic();
  }

  @Override
  public TopicOptions options() {
    return options;
  }

  /** Whether it was opened on a node. */
  public boolean isOf(MessageCommits of) {
    return of == commits;
  }

  @Override
  public CommitReceipt publish(Publish<T> message) {
    return commit(change(message));
  }

  @Override
  public CommitReceipt publish(List<Publish<T>> messages) {
    return commits.commit(messages.stream().<MessageChange>map(this::change).toList());
  }

  /** Throws GameQueueException when the topic is not of owners, or is. */
  protected final void requireOwners(boolean has) {
    if (definition.hasOwners() != has) {
      throw new GameQueueException(
          has
              ? "the messages of topic '%s' belong to no owners: open it with TopicOptions.ofOwners"
                  .formatted(name())
              : ("the messages of topic '%s' belong to owners: handle them by OwnerSession.handle,"
                      + " and by Topic.subscribeOwners where nobody has the owner open")
                  .formatted(name()));
    }
  }

  /**
   * Has a session handle its owner's messages.
   *
   * @param epoch of the session, 16 hex digits
   * @return ends that; to be called any number of times
   * @throws GameQueueException when the topic is not of owners, or the node has as many
   *     subscriptions as it may
   */
  public abstract Runnable handle(
      OwnerSession session,
      OwnerId owner,
      String epoch,
      Executor executor,
      OwnerHandler<T> handler);

  /**
   * Throws GameQueueException when key or group are empty or too long, or the group is no owner in
   * a topic of owners.
   */
  protected final MessageId id(@Nullable String group, String key) {
    if (definition.hasOwners()) {
      if (group == null) {
        throw new GameQueueException(
            "message %s of topic '%s' has no owner: Publish.owner says whose it is, and delete,"
                    .formatted(key, name())
                + " retime and get take the owner as the group");
      }
      var unused = OwnerId.of(group);
    }
    return MessageId.of(definition.topic(), group, key);
  }

  protected final int slotNumber(MessageId id) {
    return id.slot(definition.slots());
  }

  /**
   * What publishes a message, for a commit of this topic's node.
   *
   * @throws GameQueueException when the message is not fit for the topic
   */
  public MessageChange.Publish change(Publish<T> message) {
    MessageId id = id(message.group(), message.key());
    checkPriority(id, message.priority());
    byte[] payload = payload(id, message.payload());
    Publish.Timing timing = message.timing();
    Duration window = timing.window() == null ? options.window() : timing.window();
    long now = clock.getAsLong();
    long since = now;
    boolean keepsTime = false;
    long due = -1;
    String schedule = "";
    if (timing.at() != null) {
      due = millis(timing.at());
    } else if (timing.after() != null) {
      due = now + timing.after().toMillis();
    } else if (message.recurrence() == null) {
      due = now + window.toMillis();
      keepsTime = true;
    }
    if (message.recurrence() != null) {
      checkTiming(id, timing, message.recurrence());
      Schedule.Begun begun = Schedule.begin(message.recurrence(), due, now);
      due = begun.firstMillis();
      since = due;
      schedule = begun.schedule().text();
    }
    if (due < 0 || due > TopicClaims.LAST_MILLIS) {
      throw new GameQueueException(
          "message %s is due at %s ms since 1970, before that year or after 9999"
              .formatted(id, due));
    }
    return new MessageChange.Publish(
        id,
        slotNumber(id),
        due,
        keepsTime,
        timing.cap() == null ? 0 : timing.cap().toMillis(),
        MessageValue.encode(since, message.priority(), schedule, payload));
  }

  /** What says twice when a message is due, and counts once. */
  private static void checkTiming(
      MessageId id, Publish.Timing timing, Publish.Recurrence recurrence) {
    boolean isCron = recurrence.cron() != null;
    String without =
        timing.window() != null
            ? "window"
            : isCron && timing.after() != null
                ? "after"
                : isCron && timing.at() != null ? "at" : null;
    if (without != null) {
      throw new GameQueueException(
          "message %s recurs by %s, which says when it is due: publish it without '%s'"
              .formatted(id, isCron ? "cron" : "an interval", without));
    }
  }

  private void checkPriority(MessageId id, int priority) {
    if (priority == 0) {
      return;
    }
    if (options.ageing().isZero()) {
      throw new GameQueueException(
          "message %s has a priority, and topic '%s' has none: open it with priorities(...)"
              .formatted(id, definition.topic()));
    }
    long most = MOST_PRIORITY_MILLIS / options.ageing().toMillis();
    if (Math.abs((long) priority) > most) {
      throw new GameQueueException(
          ("message %s has priority %s: with an ageing of %s, topic '%s' takes priorities from"
                  + " -%s to %s; use smaller ones, or a shorter ageing")
              .formatted(id, priority, options.ageing(), definition.topic(), most, most));
    }
  }

  /** Throws GameQueueException when a payload cannot be encoded, or is too large. */
  protected final byte[] payload(MessageId id, T of) {
    byte[] payload = payloads.encode().apply(of);
    if (payload.length > options.payloadBytes()) {
      throw new GameQueueException(
          ("the payload of message %s takes %s bytes, the limit of topic '%s' is %s:"
                  + " payloadBytes")
              .formatted(id, payload.length, definition.topic(), options.payloadBytes()));
    }
    return payload;
  }

  /**
   * What deletes a message, for a commit of this topic's node.
   *
   * @param group null for none
   * @throws GameQueueException when key or group are empty or too long
   */
  public MessageChange.Delete deletion(@Nullable String group, String key) {
    MessageId id = id(group, key);
    return new MessageChange.Delete(id, slotNumber(id));
  }

  /**
   * What gives a message another due time, for a commit of this topic's node.
   *
   * @param group null for none
   * @throws GameQueueException also when it is due before 1970 or after 9999
   */
  public MessageChange.Retime retiming(@Nullable String group, String key, Instant due) {
    MessageId id = id(group, key);
    long millis = millis(due);
    if (millis < 0 || millis > TopicClaims.LAST_MILLIS) {
      throw new GameQueueException(
          "message %s cannot be due at %s: before 1970 or after 9999".formatted(id, due));
    }
    return new MessageChange.Retime(id, slotNumber(id), millis);
  }

  /** The same from now on, by the clock of Redis. */
  public MessageChange.Retime retiming(@Nullable String group, String key, Duration fromNow) {
    return retiming(group, key, fromNow(fromNow));
  }

  private Instant fromNow(Duration time) {
    return Instant.ofEpochMilli(clock.getAsLong()).plus(time);
  }

  private static long millis(Instant of) {
    try {
      return of.toEpochMilli();
    } catch (ArithmeticException e) { // beyond the year 292,000,000
      return of.getEpochSecond() < 0 ? -1 : Long.MAX_VALUE;
    }
  }

  @Override
  public CommitReceipt delete(String key) {
    return commit(deletion(null, key));
  }

  @Override
  public CommitReceipt delete(String group, String key) {
    return commit(deletion(group, key));
  }

  @Override
  public CommitReceipt retime(String key, Instant due) {
    return commit(retiming(null, key, due));
  }

  @Override
  public CommitReceipt retime(String key, Duration fromNow) {
    return commit(retiming(null, key, fromNow));
  }

  @Override
  public CommitReceipt retime(String group, String key, Instant due) {
    return commit(retiming(group, key, due));
  }

  @Override
  public CommitReceipt retime(String group, String key, Duration fromNow) {
    return commit(retiming(group, key, fromNow));
  }

  private CommitReceipt commit(MessageChange change) {
    return commits.commit(List.of(change));
  }

  /** Where a message is. */
  protected abstract FoundMessage find(MessageId id);

  /** Reads the pending one, combines, and commits if it is still the same; else once more. */
  @Override
  public void merge(Publish<T> message, BinaryOperator<T> combine) {
    long deadline = System.nanoTime() + callTimeout.toNanos();
    MessageId id = id(message.group(), message.key());
    for (int tries = 1; ; tries++) {
      FoundMessage.Version found = find(id).pending();
      MessageValue.Decoded pending = found == null ? null : MessageValue.decode(found.value());
      MessageChange publish =
          change(
              pending == null
                  ? message
                  : new Publish<>(
                      message.key(),
                      combine.apply(payloads.decode().apply(pending.payload()), message.payload()),
                      message.group(),
                      message.priority(),
                      message.timing(),
                      message.recurrence()));
      long version = pending == null ? 0 : pending.version();
      try {
        publishIf(id, version, publish, deadline - System.nanoTime());
        return;
      } catch (MessageChangedException e) {
        if (deadline - System.nanoTime() < 0) {
          throw new GameQueueException(
              "message %s was changed by others each of %s times that it was to be merged"
                  .formatted(id, tries),
              e);
        }
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MOST_REST_NANOS));
      }
    }
  }

  @Override
  public boolean publishIfAbsent(Publish<T> message) {
    MessageId id = id(message.group(), message.key());
    FoundMessage found = find(id);
    if (found.pending() != null || found.held() != null) {
      return false;
    }
    try {
      publishIf(id, 0, change(message), callTimeout.toNanos());
      return true;
    } catch (MessageChangedException e) {
      return false; // another publisher was faster
    }
  }

  /** Publishes if the pending message has this version, 0 for none; else throws. */
  private void publishIf(MessageId id, long version, MessageChange publish, long nanos) {
    commits
        .commit(List.of(new MessageChange.Expect(id, publish.slot(), version), publish))
        .awaitQueued(Duration.ofNanos(Math.max(0, nanos)));
  }

  @Override
  public Optional<Message<T>> get(String key) {
    return get(id(null, key));
  }

  @Override
  public Optional<Message<T>> get(String group, String key) {
    return get(id(group, key));
  }

  private Optional<Message<T>> get(MessageId id) {
    FoundMessage found = find(id);
    FoundMessage.Version pending = found.pending();
    FoundMessage.Version held = found.held();
    if (pending != null) {
      return Optional.of(message(id, State.PENDING, pending));
    }
    return held != null
        ? Optional.of(message(id, State.HELD, held))
        : Optional.ofNullable(found.dead()).map(dead -> message(id, State.DEAD, dead));
  }

  /** A message as servers hold it; without a payload when that cannot be decoded. */
  protected final Message<T> message(MessageId id, State state, FoundMessage.Version of) {
    MessageValue.Decoded value = MessageValue.decode(of.value());
    T payload = null;
    try {
      payload = payloads.decode().apply(value.payload());
    } catch (GameQueueException e) {
      // which may be why it is a dead letter
    }
    return new Message<>(
        id.key(),
        id.group(),
        payload,
        value.version(),
        value.priority(),
        state,
        Instant.ofEpochMilli(value.sinceMillis()),
        Instant.ofEpochMilli(of.millis()),
        of.attempts(),
        of.error().isEmpty() ? null : of.error());
  }
}

package io.gameq.test;

import io.gameq.OwnerSession;
import io.gameq.commit.MessageCommits;
import io.gameq.config.Takeover;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.owner.OwnerId;
import io.gameq.redis.topic.TopicMessages.FoundMessage;
import io.gameq.redis.topic.TopicMessages.FoundMessage.Version;
import io.gameq.subscription.OpenTopic.Payloads;
import io.gameq.subscription.PublishedTopic;
import io.gameq.subscription.TopicDelivery;
import io.gameq.subscription.TopicDelivery.Handling;
import io.gameq.test.MemoryMessages.OwnerHandling;
import io.gameq.topic.BatchHandler;
import io.gameq.topic.Claims;
import io.gameq.topic.Delivery;
import io.gameq.topic.Message;
import io.gameq.topic.Message.State;
import io.gameq.topic.OwnerHandler;
import io.gameq.topic.SubscribeOptions;
import io.gameq.topic.Subscription;
import io.gameq.topic.TopicOptions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A topic as a node in memory has it open. Thread-safe. */
final class MemoryTopic<T> extends PublishedTopic<T> {
  private final MemoryQueue node;
  private final MemoryStore store;
  private final MemoryMessages.Box box;
  private final Handling<T> handling;

  MemoryTopic(
      MemoryQueue node,
      MemoryStore store,
      MemoryMessages.Box box,
      TopicOptions options,
      Payloads<T> payloads,
      MessageCommits commits) {
    super(box.definition, options, payloads, commits, store.clock::millis, MemoryQueue.TIMEOUT);
    this.node = node;
    this.store = store;
    this.box = box;
    this.handling = new Handling<>(payloads, options, commits, (taken, time) -> true);
  }

  @Override
  protected FoundMessage find(MessageId id) {
    store.requireThere(false);
    return store.messages.find(id);
  }

  @Override
  public Page<T> list(State state, @Nullable String from) {
    synchronized (store) {
      List<Message<T>> all = new ArrayList<>();
      switch (state) {
        case PENDING -> box.pending.forEach((id, of) -> all.add(message(id, state, of)));
        case DEAD -> box.dead.forEach((id, of) -> all.add(message(id, state, of)));
        case HELD ->
            box.held
                .values()
                .forEach(
                    of -> all.add(message(of.taken().id(), state, MemoryMessages.version(of))));
      }
      all.sort(Comparator.comparing(Message::due));
      int first = from == null ? 0 : Integer.parseInt(from);
      int end = Math.min(all.size(), first + PAGE);
      return new Page<>(all.subList(first, end), end < all.size() ? String.valueOf(end) : null);
    }
  }

  private Message<T> message(String id, State state, Version of) {
    return message(new MessageId(name(), id), state, of);
  }

  @Override
  public Counts counts() {
    synchronized (store) {
      long now = store.clock.millis();
      long due =
          box.pending.entrySet().stream()
              .filter(of -> of.getValue().millis() <= now)
              .map(of -> new MessageId(name(), of.getKey()).lane())
              .distinct()
              .count();
      return new Counts(box.pending.size(), due, box.held.size(), box.dead.size());
    }
  }

  @Override
  public boolean retryDead(Message<T> dead) {
    return retryDead(dead, (byte[]) null);
  }

  @Override
  public boolean retryDead(Message<T> dead, T payload) {
    return retryDead(dead, payload(id(dead.group(), dead.key()), payload));
  }

  private boolean retryDead(Message<T> dead, byte @Nullable [] payload) {
    MessageId id = id(dead.group(), dead.key());
    synchronized (store) {
      FoundMessage found = store.messages.find(id);
      if (!isThere(found, dead) || found.pending() != null || found.held() != null) {
        return false;
      }
      MessageValue.Decoded of = MessageValue.decode(Objects.requireNonNull(found.dead()).value());
      long now = store.clock.millis();
      byte[] value =
          MemoryMessages.withSince(
              new MessageValue.Decoded(
                  of.version() + (payload == null ? 0 : 1),
                  of.sinceMillis(),
                  of.priority(),
                  of.schedule(),
                  payload == null ? of.payload() : payload),
              of.schedule().isEmpty() ? now : of.sinceMillis());
      box.dead.remove(id.id());
      box.pending.put(id.id(), new Version(value, now, 0, "", ""));
    }
    store.messages.handleDue();
    return true;
  }

  private static boolean isThere(FoundMessage found, Message<?> dead) {
    Version there = found.dead();
    return there != null && MessageValue.version(there.value()) == dead.version();
  }

  @Override
  public boolean discardDead(Message<T> dead) {
    MessageId id = id(dead.group(), dead.key());
    synchronized (store) {
      return isThere(store.messages.find(id), dead) && box.dead.remove(id.id()) != null;
    }
  }

  @Override
  public void pause(String reason) {
    synchronized (store) {
      box.isPaused = true;
    }
  }

  @Override
  public void resume() {
    synchronized (store) {
      box.isPaused = false;
    }
    store.messages.handleDue();
  }

  @Override
  public void rate(double perSecond, String reason) {
    throw MemoryStore.notHere("Topic.rate");
  }

  @Override
  public Subscription subscribeBatch(BatchHandler<T> handler, SubscribeOptions with) {
    requireOwners(false);
    return node.subscribe(subscription(handler, with, lane -> true));
  }

  @Override
  public Subscription subscribeOwners(OwnerHandler<T> handler, SubscribeOptions with) {
    requireOwners(true);
    return node.subscribe(
        subscription(
            one -> delivery(one).openAndHandle(this::openUnlessAlive, handler),
            new SubscribeOptions(with.concurrency(), 1, with.perSecond()),
            lane -> !box.handlers.containsKey(lane)));
  }

  private OwnerSession openUnlessAlive(String owner) {
    return node.open(owner, Takeover.UNLESS_ALIVE);
  }

  private static <T> TopicDelivery<T> delivery(List<Delivery<T>> one) {
    return (TopicDelivery<T>) one.get(0);
  }

  private MemorySubscription<T> subscription(
      BatchHandler<T> handler, SubscribeOptions with, Predicate<String> lanes) {
    return new MemorySubscription<>(store.messages, box, handling, handler, with, lanes);
  }

  /** The handler runs on the thread that makes a message due, as others do. */
  @Override
  public Runnable handle(
      OwnerSession session,
      OwnerId owner,
      String epoch,
      Executor executor,
      OwnerHandler<T> handler) {
    requireOwners(true);
    String its = owner.encoded() + ":";
    MemorySubscription<T> subscription =
        subscription(
            one -> {
              var unused = delivery(one).handle(session, handler);
            },
            SubscribeOptions.DEFAULT,
            its::equals);
    OwnerHandling of = new OwnerHandling(epoch, subscription);
    synchronized (store) {
      OwnerHandling before = box.handlers.get(its);
      if (before != null && before.epoch().compareTo(epoch) > 0) {
        return () -> {}; // a later session has the owner
      }
      box.handlers.put(its, of);
      if (before != null) {
        before.subscription().close();
      }
    }
    store.messages.add(subscription);
    return () -> {
      synchronized (store) {
        box.handlers.remove(its, of);
      }
      subscription.close();
    };
  }

  @Override
  public Claims<T> claims() {
    requireOwners(false);
    throw MemoryStore.notHere("Topic.claims");
  }

  @Override
  public String toString() {
    return "Topic[" + name() + "]";
  }
}

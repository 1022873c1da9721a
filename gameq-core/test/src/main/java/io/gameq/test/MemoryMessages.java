package io.gameq.test;

import io.gameq.GameQueueException;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.redis.topic.TopicMessages.FoundMessage;
import io.gameq.redis.topic.TopicMessages.FoundMessage.Version;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The messages of all topics of a test, and when they are handled: what Redis does by the scripts
 * of topics. Guarded by the lock of the store; handlers run without it, one at a time.
 */
final class MemoryMessages {
  /** Handlers that go on publishing what is due at once would never end. */
  private static final int MOST_AT_ONCE = 100_000;

  private final MemoryStore store;
  private final Map<String, Box> boxes = new HashMap<>();
  private final List<MemorySubscription<?>> subscriptions = new CopyOnWriteArrayList<>();
  private long takes;
  private boolean isHandling;

  /** Those of one topic, by id and by lane, as package io.gameq.redis.topic draws them. */
  static final class Box {
    final TopicDefinition definition;
    final Map<String, Version> pending = new TreeMap<>();
    final Map<String, Held> held = new TreeMap<>();
    final Map<String, Version> dead = new TreeMap<>();

    /** By lane, in a topic of owners. */
    final Map<String, OwnerHandling> handlers = new TreeMap<>();

    boolean isPaused;

    Box(TopicDefinition definition) {
      this.definition = definition;
    }
  }

  /** By a session that handles the messages of its owner. */
  record OwnerHandling(String epoch, MemorySubscription<?> subscription) {}

  /** A message in the hands of a handler. */
  record Held(TakenMessage taken, boolean isDeleted) {}

  MemoryMessages(MemoryStore store) {
    this.store = store;
  }

  /** The topic's messages. Throws GameQueueException when it is defined differently. */
  Box define(TopicDefinition definition) {
    synchronized (store) {
      Box box = boxes.computeIfAbsent(definition.topic(), topic -> new Box(definition));
      definition.requireSameAs(box.definition);
      return box;
    }
  }

  @Nullable Box find(String topic) {
    synchronized (store) {
      return boxes.get(topic);
    }
  }

  private Box box(MessageId id) {
    return Objects.requireNonNull(boxes.get(id.topic()));
  }

  FoundMessage find(MessageId id) {
    synchronized (store) {
      Box box = box(id);
      Held held = box.held.get(id.lane());
      return new FoundMessage(
          id,
          box.pending.get(id.id()),
          held != null && held.taken.id().equals(id) ? version(held) : null,
          box.dead.get(id.id()));
    }
  }

  /** It is in the hands of a handler for as long as the lease says. */
  static Version version(Held held) {
    TakenMessage of = held.taken;
    return new Version(of.value(), of.takenMillis(), of.attempts(), "", "");
  }

  // --- commits

  /** Why a commit is refused for one of its messages; null when it is not. */
  CommitGroup.@Nullable Outcome refusal(List<MessageChange> changes) {
    for (MessageChange change : changes) {
      MessageId id = change.id();
      Held held = box(id).held.get(id.lane());
      if (change instanceof MessageChange.Ack ack && !stands(held, id, ack.token())) {
        return new CommitGroup.ClaimLost(id.toString());
      }
      if (change instanceof MessageChange.Expect expect) {
        Version pending = box(id).pending.get(id.id());
        long version = pending == null ? 0 : MessageValue.version(pending.value());
        if (version != expect.version()) {
          return new CommitGroup.MessageChanged(id.toString());
        }
      }
    }
    return null;
  }

  private static boolean stands(@Nullable Held held, MessageId id, String token) {
    return held != null && held.taken.id().equals(id) && held.taken.token().equals(token);
  }

  void apply(MessageChange change) {
    Box box = box(change.id());
    String id = change.id().id();
    Version pending = box.pending.get(id);
    if (change instanceof MessageChange.Publish publish) {
      box.pending.put(id, over(pending, publish));
    } else if (change instanceof MessageChange.Retime retime && pending != null) {
      box.pending.put(
          id,
          new Version(
              pending.value(), retime.dueMillis(), pending.attempts(), "", pending.error()));
    } else if (change instanceof MessageChange.Delete) {
      box.pending.remove(id);
      box.held.computeIfPresent(
          change.id().lane(),
          (lane, held) -> held.taken.id().equals(change.id()) ? new Held(held.taken, true) : held);
    } else if (change instanceof MessageChange.Ack ack) {
      Held held = box.held.remove(ack.id().lane());
      if (held != null && !held.isDeleted && ack.nextDueMillis() > 0) {
        recur(box, held.taken, ack.nextDueMillis());
      }
    }
  }

  /** A publish over what is pending: it keeps when that was published first. */
  private static Version over(@Nullable Version pending, MessageChange.Publish publish) {
    byte[] value = publish.value();
    long due = publish.dueMillis();
    if (pending != null) {
      MessageValue.Decoded old = MessageValue.decode(pending.value());
      MessageValue.Decoded its = MessageValue.decode(value);
      if (old.schedule().isEmpty() && its.schedule().isEmpty()) {
        value = withSince(its, old.sinceMillis());
      }
      if (publish.capMillis() > 0) {
        due = Math.min(due, MessageValue.decode(value).sinceMillis() + publish.capMillis());
      }
      due = publish.keepsTime() ? Math.min(due, pending.millis()) : due;
    }
    return new Version(value, due, 0, "", "");
  }

  static byte[] withSince(MessageValue.Decoded of, long sinceMillis) {
    byte[] value = MessageValue.encode(sinceMillis, of.priority(), of.schedule(), of.payload());
    MessageValue.setVersion(value, of.version());
    return value;
  }

  /** The next occurrence, unless something newer is pending. */
  private static void recur(Box box, TakenMessage taken, long nextDue) {
    byte[] value = withSince(MessageValue.decode(taken.value()), nextDue);
    box.pending.putIfAbsent(taken.id().id(), new Version(value, nextDue, 0, "", ""));
  }

  /**
   * The handling of a message has failed.
   *
   * @param counts false when it is nobody's fault
   * @param nextDue of a recurring message, when this was its last attempt; 0 for none
   * @return whether it is a dead letter
   */
  boolean fail(TakenMessage taken, String why, long afterMillis, boolean counts, long nextDue) {
    synchronized (store) {
      Box box = box(taken.id());
      Held held = box.held.get(taken.id().lane());
      if (held == null || !stands(held, taken.id(), taken.token())) {
        return false;
      }
      box.held.remove(taken.id().lane());
      String id = taken.id().id();
      long now = store.clock.millis();
      if (held.isDeleted) {
        return false;
      }
      if (counts && taken.attempts() >= box.definition.mostAttempts()) {
        box.dead.put(id, new Version(taken.value(), now, taken.attempts(), "", why));
        if (nextDue > 0) {
          recur(box, taken, nextDue);
        }
        return true;
      }
      int attempts = taken.attempts() - (counts ? 0 : 1);
      box.pending.putIfAbsent(id, new Version(taken.value(), now + afterMillis, attempts, "", why));
      return false;
    }
  }

  // --- handling

  void add(MemorySubscription<?> subscription) {
    subscriptions.add(subscription);
    handleDue();
  }

  void remove(MemorySubscription<?> subscription) {
    subscriptions.remove(subscription);
  }

  /** Messages of some lanes of a topic that are due, up to so many, each of another lane. */
  List<TakenMessage> take(Box box, int most, Predicate<String> lanes) {
    synchronized (store) {
      long now = store.clock.millis();
      List<TakenMessage> taken = new ArrayList<>();
      if (box.isPaused || store.faults.redisAway) {
        return taken;
      }
      heads(box).values().stream()
          .filter(of -> of.version.millis() <= now && lanes.test(of.id.lane()))
          .sorted(
              Comparator.comparingLong(
                  of ->
                      of.version.millis()
                          - MessageValue.decode(of.version.value()).priority()
                              * box.definition.ageMillis()))
          .limit(most)
          .forEach(of -> taken.add(take(box, of, now)));
      return taken;
    }
  }

  private record Head(MessageId id, Version version) {}

  /** The next message of each lane that nobody holds. */
  private static Map<String, Head> heads(Box box) {
    Map<String, Head> heads = new TreeMap<>();
    box.pending.forEach(
        (text, version) -> {
          MessageId id = new MessageId(box.definition.topic(), text);
          if (!box.held.containsKey(id.lane())) {
            heads.merge(
                id.lane(),
                new Head(id, version),
                (one, other) -> other.version.millis() < one.version.millis() ? other : one);
          }
        });
    return heads;
  }

  private TakenMessage take(Box box, Head head, long now) {
    Version of = head.version;
    takes++;
    TakenMessage taken =
        new TakenMessage(
            head.id,
            head.id.slot(box.definition.slots()),
            "take-" + takes,
            now,
            takes,
            of.attempts() + 1,
            0,
            of.millis(),
            System.nanoTime() + box.definition.leaseMillis() * 1_000_000,
            of.value());
    box.pending.remove(head.id.id());
    box.held.put(head.id.lane(), new Held(taken, false));
    return taken;
  }

  /** Has all that is due handled, unless a handler calls it: then it is handled after that. */
  void handleDue() {
    synchronized (store) {
      if (isHandling) {
        return;
      }
      isHandling = true;
    }
    try {
      int handled = 0;
      while (subscriptions.stream().anyMatch(MemorySubscription::handleSome)) {
        if (++handled > MOST_AT_ONCE) {
          throw new GameQueueException(
              "after %s handlers some message is still due at once: does a handler publish what it"
                      .formatted(MOST_AT_ONCE)
                  + " handles again, without a delay?");
        }
      }
    } finally {
      synchronized (store) {
        isHandling = false;
      }
    }
  }

  /** Goes through all moments at which something falls due that is handled, up to this one. */
  void handleUntil(Instant to) {
    handleDue();
    for (Instant next; (next = nextDue(to)) != null; ) {
      store.setNow(next);
      handleDue();
    }
    store.setNow(to);
    handleDue();
  }

  private @Nullable Instant nextDue(Instant to) {
    synchronized (store) {
      long now = store.clock.millis();
      long first = Long.MAX_VALUE;
      for (MemorySubscription<?> subscription : subscriptions) {
        Box box = subscription.isPaused() ? null : subscription.box();
        for (Head head : box == null || box.isPaused ? List.<Head>of() : heads(box).values()) {
          first =
              head.version.millis() > now && subscription.takes(head.id.lane())
                  ? Math.min(first, head.version.millis())
                  : first;
        }
      }
      return first <= to.toEpochMilli() ? Instant.ofEpochMilli(first) : null;
    }
  }
}

package io.gameq.subscription;

import io.gameq.ClosedException;
import io.gameq.GameQueueException;
import io.gameq.OwnerSession;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.MessageValue;
import io.gameq.mysql.tables.TopicTable;
import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.topic.DefinedTopic;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.redis.topic.TopicMessages;
import io.gameq.redis.topic.TopicMessages.FoundMessage;
import io.gameq.redis.topic.TopicMessages.Place;
import io.gameq.redis.topic.TopicMessages.TopicCounts;
import io.gameq.subscription.OpenTopic.Node;
import io.gameq.subscription.OpenTopic.Payloads;
import io.gameq.subscription.TopicClaims.ClaimPoller;
import io.gameq.topic.BatchHandler;
import io.gameq.topic.Claims;
import io.gameq.topic.Message;
import io.gameq.topic.Message.State;
import io.gameq.topic.OwnerHandler;
import io.gameq.topic.SubscribeOptions;
import io.gameq.topic.Subscription;
import io.gameq.topic.Topic;
import io.gameq.topic.TopicOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The topics of a node, and its subscriptions to them. Thread-safe. */
public final class NodeTopics {
  /** Each has a connection, and a thread beside those of its handlers. */
  private static final int MOST_SUBSCRIPTIONS = 64;

  private final Node node;
  private final List<Subscription> subscriptions = new ArrayList<>();
  private final Map<TopicDefinition, ClaimPoller> takings = new HashMap<>();

  /** By topic: a second one of this process would get what belongs to the sessions of the first. */
  private final Map<String, OwnerConsumer> consumers = new HashMap<>();

  private boolean isClosed;

  public NodeTopics(Node node) {
    this.node = node;
  }

  /** As {@link io.gameq.GameQueue#topic(String, TopicOptions)}. */
  public Topic<byte[]> open(String name, TopicOptions options) {
    return open(name, options, Payloads.BYTES);
  }

  /** As {@link io.gameq.GameQueue#topic(String, Class, TopicOptions)}. */
  public <T extends Record> Topic<T> open(String name, Class<T> payload, TopicOptions options) {
    return open(name, options, Payloads.ofRecord(payload));
  }

  private <T> Topic<T> open(String name, TopicOptions options, Payloads<T> payloads) {
    MessageId.checkTopic(name);
    TopicDefinition definition = TopicDefinition.of(name, options, node.slots().length);
    DefinedTopic kept =
        change("the definition of topic '" + name + "'", topics -> topics.define(definition));
    return new NodeTopic<>(OpenTopic.of(node, kept.definition(), options, payloads));
  }

  /** As {@link io.gameq.GameQueue#definedTopic}. */
  public Optional<Topic<byte[]>> defined(String name) {
    MessageId.checkTopic(name);
    String what = "the definition of topic '" + name + "'";
    long deadline = System.nanoTime() + node.config().callTimeout().toNanos();
    Optional<DefinedTopic> found =
        node.asking()
            .ask(
                what,
                redis ->
                    Optional.ofNullable(DefinedTopic.find(redis, node.config().namespace(), name)));
    if (found.isEmpty()) { // nobody has defined it, or Redis lost it
      long left = Math.max(0, deadline - System.nanoTime());
      found =
          node.asking().ask(what, left, (topics, redis) -> Optional.ofNullable(topics.find(name)));
    }
    return found
        .map(DefinedTopic::definition)
        .map(of -> new NodeTopic<>(OpenTopic.of(node, of, of.options(), Payloads.BYTES)));
  }

  /** Changes a topic in MySQL, then puts it into Redis. */
  DefinedTopic change(String what, Function<TopicTable, DefinedTopic> change) {
    return node.asking()
        .ask(
            what,
            node.config().callTimeout().toNanos(),
            (topics, redis) -> {
              DefinedTopic of = change.apply(topics);
              DefinedTopic.put(redis, node.config().namespace(), List.of(of));
              return of;
            });
  }

  /** As {@link Topic#subscribeBatch}. */
  synchronized <T> Subscription subscribe(
      OpenTopic<T> topic, BatchHandler<T> handler, SubscribeOptions with) {
    requireRoom();
    TopicSubscription<T> subscription = new TopicSubscription<>(topic, handler, with, this::closed);
    subscription.start();
    subscriptions.add(subscription);
    return subscription;
  }

  private void requireRoom() {
    if (isClosed) {
      throw new ClosedException("the node is closed: nothing is handled any more");
    }
    if (subscriptions.size() + takings.size() + consumers.size() >= MOST_SUBSCRIPTIONS) {
      throw new GameQueueException(
          ("a node has at most %s subscriptions, topics whose messages it takes by claims or"
                  + " hands to sessions counted: close one first")
              .formatted(MOST_SUBSCRIPTIONS));
    }
  }

  /** What takes messages of a topic by claims; one for each topic, until the node is closed. */
  synchronized ClaimPoller claimPoller(OpenTopic<?> topic) {
    ClaimPoller known = takings.get(topic.definition());
    if (known == null) {
      requireRoom();
      known = new ClaimPoller(topic);
      known.start();
      takings.put(topic.definition(), known);
    }
    return known;
  }

  /** What hands messages of a topic to sessions; one for each topic, until the node is closed. */
  private synchronized OwnerConsumer consumer(OpenTopic<?> topic) {
    OwnerConsumer known = consumers.get(topic.name());
    if (known == null) {
      requireRoom();
      known = new OwnerConsumer(topic);
      known.start();
      consumers.put(topic.name(), known);
    }
    return known;
  }

  private static void pause(Subscription of) {
    try {
      of.pause();
    } catch (ClosedException e) {
      // its own close goes on, and is waited for below
    }
  }

  private synchronized void closed(Subscription of) {
    subscriptions.remove(of);
  }

  /**
   * Closes all subscriptions, at the same time; for whoever closes the node, before its sender is
   * closed.
   */
  public void close(long deadlineNanos) {
    List<Subscription> all;
    List<ClaimPoller> taking;
    List<OwnerConsumer> handing;
    synchronized (this) {
      isClosed = true;
      all = List.copyOf(subscriptions);
      taking = List.copyOf(takings.values());
      handing = List.copyOf(consumers.values());
      consumers.clear();
    }
    taking.forEach(ClaimPoller::stop);
    all.forEach(NodeTopics::pause);
    handing.forEach(OwnerConsumer::pause);
    handing.forEach(of -> of.close(deadlineNanos));
    all.forEach(
        of -> {
          boolean unused =
              of.close(Duration.ofNanos(Math.max(0, deadlineNanos - System.nanoTime())));
        });
  }

  /**
   * A topic as a game has it open on a node: publishing, merging, looking at messages and dead
   * letters. Thread-safe.
   */
  public final class NodeTopic<T> extends PublishedTopic<T> {
    /** Characters, as many as an operator's. */
    private static final int MOST_REASON = 255;

    private static final Pattern START = Pattern.compile("(\\d{1,9})-(\\d)-(\\d{1,18})");

    private final OpenTopic<T> topic;
    private final Claims<T> claims;

    private NodeTopic(OpenTopic<T> topic) {
      super(
          topic.definition(),
          topic.options(),
          topic.payloads(),
          node.commits(),
          node.clock(),
          node.config().callTimeout());
      this.topic = topic;
      this.claims = new TopicClaims<>(topic, () -> claimPoller(topic));
    }

    private SlotKeys slot(MessageId id) {
      return node.slots()[slotNumber(id)];
    }

    @Override
    protected FoundMessage find(MessageId id) {
      return topic.ask("message " + id, redis -> TopicMessages.find(redis, slot(id), id));
    }

    /** The lists of a slot in which messages of a state are; none for dead letters. */
    private static List<Place> places(State state) {
      return switch (state) {
        case PENDING -> List.of(Place.READY, Place.DUE, Place.UNHANDLED);
        case HELD -> List.of(Place.HELD);
        case DEAD -> List.of();
      };
    }

    /**
     * A page begins at {@code slot-list-offset}: a list of the slot, and how many were before it.
     */
    @Override
    public Page<T> list(State state, @Nullable String from) {
      Matcher start = START.matcher(from == null ? "0-0-0" : from);
      int lists = Math.max(1, places(state).size());
      if (!start.matches()
          || Integer.parseInt(start.group(1)) >= definition.slots()
          || Integer.parseInt(start.group(2)) >= lists) {
        throw new GameQueueException("not what a page of messages gave as the next one");
      }
      int first = Integer.parseInt(start.group(1)) * lists + Integer.parseInt(start.group(2));
      long offset = Long.parseLong(start.group(3));
      return topic.ask(
          "messages of topic '" + name() + "'",
          redis -> read(redis, state, places(state), first, offset));
    }

    private Page<T> read(
        RedisConnection redis, State state, List<Place> places, int first, long firstOffset) {
      List<Message<T>> page = new ArrayList<>();
      int lists = Math.max(1, places.size());
      long offset = firstOffset;
      for (int i = first; i < definition.slots() * lists; i++) {
        int slot = i / lists;
        int room = PAGE - page.size();
        int read =
            state == State.DEAD
                ? addDead(redis, slot, offset, room, page)
                : addListed(redis, slot, places.get(i % lists), offset, room, page);
        if (read == room) {
          return new Page<>(page, slot + "-" + i % lists + "-" + (offset + read));
        }
        offset = 0;
      }
      return new Page<>(page, null);
    }

    /** Adds what there is room for; returns how many it read. */
    private int addListed(
        RedisConnection redis,
        int slot,
        Place place,
        long offset,
        int room,
        List<Message<T>> page) {
      List<TopicMessages.ListedMessage> listed =
          TopicMessages.page(redis, node.slots()[slot], name(), place, offset, room);
      for (TopicMessages.ListedMessage of : listed) {
        byte[] value = of.value();
        if (value != null) {
          long millis = of.millis();
          if (place == Place.READY) { // by a number in which the priority is counted
            millis += MessageValue.decode(value).priority() * definition.ageMillis();
          }
          State state = place == Place.HELD ? State.HELD : State.PENDING;
          page.add(
              message(
                  of.id(),
                  state,
                  new FoundMessage.Version(value, millis, of.attempts(), of.node(), of.error())));
        }
      }
      return listed.size();
    }

    private int addDead(
        RedisConnection redis, int slot, long offset, int room, List<Message<T>> page) {
      long[] seen = {0};
      TopicMessages.eachDead(
          redis,
          node.slots()[slot],
          name(),
          of -> {
            FoundMessage.Version dead = of.dead();
            if (seen[0]++ >= offset && dead != null) {
              page.add(message(of.id(), State.DEAD, dead));
            }
            return seen[0] < offset + room;
          });
      return (int) Math.max(0, seen[0] - offset);
    }

    @Override
    public Counts counts() {
      List<SlotKeys> slots = Arrays.asList(node.slots()).subList(0, definition.slots());
      TopicCounts counts =
          topic.ask(
              "counts of topic '" + name() + "'",
              redis -> TopicMessages.counts(redis, slots, name(), node.clock().getAsLong()));
      return new Counts(counts.pending(), counts.dueLanes(), counts.held(), counts.dead());
    }

    @Override
    public boolean retryDead(Message<T> dead) {
      return retryDead(id(dead.group(), dead.key()), dead.version(), null);
    }

    @Override
    public boolean retryDead(Message<T> dead, T payload) {
      MessageId id = id(dead.group(), dead.key());
      return retryDead(id, dead.version(), payload(id, payload));
    }

    private boolean retryDead(MessageId id, long version, byte @Nullable [] payload) {
      return topic.ask(
          "to retry message " + id,
          redis ->
              TopicMessages.retryDead(redis, slot(id), id, version, payload)
                  == TopicMessages.Retried.RETRIED);
    }

    @Override
    public boolean discardDead(Message<T> dead) {
      MessageId id = id(dead.group(), dead.key());
      return topic.ask(
          "to discard message " + id,
          redis -> TopicMessages.discardDead(redis, slot(id), id, dead.version()));
    }

    @Override
    public void pause(String reason) {
      DefinedTopic unused =
          NodeTopics.this.change(
              "to pause topic '" + name() + "'",
              table -> table.pause(name(), checked(reason), who()));
    }

    @Override
    public void resume() {
      DefinedTopic unused =
          NodeTopics.this.change("to resume topic '" + name() + "'", table -> table.resume(name()));
    }

    @Override
    public void rate(double perSecond, String reason) {
      if (perSecond != 0) {
        DefinedTopic.Rate.check(perSecond);
      }
      DefinedTopic unused =
          NodeTopics.this.change(
              "to set the rate of topic '" + name() + "'",
              table ->
                  perSecond == 0
                      ? table.endRate(name())
                      : table.rate(name(), perSecond, checked(reason), who()));
    }

    private String who() {
      return "node " + node.config().node();
    }

    private static String checked(String reason) {
      if (reason.length() > MOST_REASON) {
        throw new GameQueueException(
            "the reason has %s characters: at most %s".formatted(reason.length(), MOST_REASON));
      }
      return reason;
    }

    @Override
    public Subscription subscribeBatch(BatchHandler<T> handler, SubscribeOptions with) {
      requireOwners(false);
      return NodeTopics.this.subscribe(topic, handler, with);
    }

    @Override
    public Subscription subscribeOwners(OwnerHandler<T> handler, SubscribeOptions with) {
      requireOwners(true);
      return NodeTopics.this.subscribe(
          topic,
          one -> ((TopicDelivery<T>) one.get(0)).openAndHandle(node.opener(), handler),
          new SubscribeOptions(with.concurrency(), 1, with.perSecond()));
    }

    @Override
    public Runnable handle(
        OwnerSession session,
        OwnerId owner,
        String epoch,
        Executor executor,
        OwnerHandler<T> handler) {
      requireOwners(true);
      return consumer(topic).handle(topic, session, owner, epoch, executor, handler);
    }

    @Override
    public Claims<T> claims() {
      requireOwners(false);
      return claims;
    }

    @Override
    public String toString() {
      return "Topic[" + name() + "]";
    }
  }
}

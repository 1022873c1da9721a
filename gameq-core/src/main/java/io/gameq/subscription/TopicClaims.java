package io.gameq.subscription;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.ClosedException;
import io.gameq.GameQueueException;
import io.gameq.QueueFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.agent.AgentRunner;
import io.gameq.agent.AgentRunner.Agent;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.topic.ConsumerScripts;
import io.gameq.redis.topic.ConsumerScripts.Attempt;
import io.gameq.redis.topic.ConsumerScripts.Failure;
import io.gameq.redis.topic.ConsumerScripts.NackResult;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import io.gameq.subscription.TopicPoller.Acknowledgements;
import io.gameq.topic.ClaimLostException;
import io.gameq.topic.Claimed;
import io.gameq.topic.Claims;
import io.gameq.topic.Retry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A topic's messages taken by hand, on one node. Thread-safe. */
final class TopicClaims<T> implements Claims<T> {
  /** Far beyond any game; and a double in Redis holds it to the millisecond. */
  static final long LAST_MILLIS = Instant.parse("9999-12-31T00:00:00Z").toEpochMilli();

  private static final Duration LONGEST_WAIT = Duration.ofHours(1);
  private static final Duration LONGEST_DELAY = Duration.ofDays(366);

  private final OpenTopic<T> topic;

  private final Supplier<ClaimPoller> pollers;

  /** With {@code pollers} for the one of the topic, which is there until the node is closed. */
  TopicClaims(OpenTopic<T> topic, Supplier<ClaimPoller> pollers) {
    this.topic = topic;
    this.pollers = pollers;
  }

  @Override
  public CompletableFuture<List<Claimed<T>>> take(int most, Duration wait) {
    if (most < 1 || most > MOST) {
      throw new GameQueueException("take 1 to %s messages: %s".formatted(MOST, most));
    }
    if (wait.isNegative() || wait.compareTo(LONGEST_WAIT) > 0) {
      throw new GameQueueException("wait for messages from 0 to an hour: " + wait);
    }
    ClaimPoller poller = pollers.get();
    CompletableFuture<List<Claimed<T>>> told = new CompletableFuture<>();
    CompletableFuture<List<TakenMessage>> taken = poller.take(most, wait);
    CompletableFuture<?> unused =
        told.whenComplete((all, error) -> taken.cancel(false)); // of no use when it came
    unused =
        taken.whenCompleteAsync(
            (some, error) -> {
              if (error != null) {
                told.completeExceptionally(error);
              } else if (!told.complete(claimed(some, poller.acks))) { // cancelled
                poller.giveBack(some);
              }
            },
            topic.node().callbacks());
    return told;
  }

  private List<Claimed<T>> claimed(List<TakenMessage> some, Acknowledgements acks) {
    return TopicDelivery.hold(topic, some, acks).stream().map(TopicClaims::claimed).toList();
  }

  private static <T> Claimed<T> claimed(TopicDelivery<T> of) {
    return new Claimed<>(
        ClaimText.of(of).text(),
        of.key(),
        of.group(),
        of.payload(),
        of.attempt(),
        of.due(),
        of.since(),
        of.fence(),
        of.remaining());
  }

  /** By the text that they were given as, each once. */
  private Map<String, ClaimText> parse(List<String> claims) {
    if (claims.size() > MOST) {
      throw new GameQueueException(
          "at most %s claims in one call: %s".formatted(MOST, claims.size()));
    }
    Map<String, ClaimText> parsed = new LinkedHashMap<>();
    claims.forEach(text -> parsed.computeIfAbsent(text, of -> ClaimText.parse(topic.name(), of)));
    return parsed;
  }

  @Override
  public CompletableFuture<List<String>> acknowledge(List<String> claims) {
    Map<String, ClaimText> left = parse(claims);
    List<String> lost = Collections.synchronizedList(new ArrayList<>());
    List<Map<String, ClaimText>> commits = new ArrayList<>();
    while (!left.isEmpty()) {
      commits.add(some(left));
    }
    return acknowledgeAll(commits, lost).thenApply(nothing -> List.copyOf(lost));
  }

  private CompletableFuture<Void> acknowledgeAll(
      List<Map<String, ClaimText>> commits, List<String> lost) {
    return CompletableFuture.allOf(
        commits.stream().map(of -> acknowledge(of, lost)).toArray(CompletableFuture<?>[]::new));
  }

  /** As many as one commit may hold, no two of one message: those would count as one change. */
  private Map<String, ClaimText> some(Map<String, ClaimText> left) {
    Map<String, ClaimText> some = new LinkedHashMap<>();
    Set<String> ids = new HashSet<>();
    int most =
        Math.min(Acknowledgements.MOST_TOGETHER, topic.node().config().limits().commitRows());
    left.forEach(
        (text, claim) -> {
          if (some.size() < most && ids.add(claim.id().id())) {
            some.put(text, claim);
          }
        });
    left.keySet().removeAll(some.keySet());
    return some;
  }

  private CompletableFuture<Void> acknowledge(Map<String, ClaimText> claims, List<String> lost) {
    List<MessageChange> acks =
        claims.values().stream().<MessageChange>map(claim -> claim.ack(slots())).toList();
    return topic
        .node()
        .commits()
        .commit(acks)
        .queued()
        .exceptionallyCompose(
            error -> {
              Throwable cause = error instanceof CompletionException ? error.getCause() : error;
              if (!(cause instanceof ClaimLostException)) {
                return CompletableFuture.failedFuture(cause == null ? error : cause);
              }
              if (claims.size() == 1) {
                lost.addAll(claims.keySet());
                return CompletableFuture.completedFuture(null);
              }
              // one of them was lost, so none is done
              return acknowledgeAll(
                  claims.entrySet().stream().map(of -> Map.of(of.getKey(), of.getValue())).toList(),
                  lost);
            });
  }

  @Override
  public List<String> extend(List<String> claims, Duration fromNow) {
    TopicDelivery.checkLease(fromNow);
    return lost(
        claims,
        "to extend leases of topic",
        claim -> claim.taken(slots()),
        (redis, taken) -> topic.scripts().extend(redis, taken, fromNow.toMillis()));
  }

  private int slots() {
    return topic.definition().slots();
  }

  @Override
  public List<String> fail(List<String> claims, String why, @Nullable Duration after) {
    return nack(claims, after, true, Acknowledgements.cut(why));
  }

  @Override
  public List<String> giveBack(List<String> claims, @Nullable Duration after) {
    return nack(claims, after, false, "given back");
  }

  private List<String> nack(
      List<String> claims, @Nullable Duration after, boolean counts, String why) {
    if (after != null && (after.isNegative() || after.compareTo(LONGEST_DELAY) > 0)) {
      throw new GameQueueException("the next attempt is after 0 to a year: " + after);
    }
    Retry retry = topic.options().retry();
    return lost(
        claims,
        "to fail messages of topic",
        claim ->
            new Failure(
                claim.taken(slots()),
                after != null
                    ? after.toMillis()
                    : Acknowledgements.backoffMillis(retry, claim.attempt()),
                counts ? Attempt.FAILED : Attempt.PUT_OFF,
                why,
                counts ? claim.nextDueMillis() : 0),
        (redis, failures) ->
            topic.scripts().nack(redis, failures).stream()
                .map(result -> result != NackResult.CLAIM_LOST)
                .toList());
  }

  /** Has a script settle claims; returns those that were lost before. */
  private <S> List<String> lost(
      List<String> claims,
      String what,
      Function<ClaimText, S> argument,
      BiFunction<RedisConnection, List<S>, List<Boolean>> script) {
    Map<String, ClaimText> parsed = parse(claims);
    List<S> arguments = parsed.values().stream().map(argument).toList();
    Iterator<Boolean> held =
        topic
            .ask(what + " '" + topic.name() + "'", redis -> script.apply(redis, arguments))
            .iterator();
    return parsed.keySet().stream().filter(text -> !held.next()).toList();
  }

  /**
   * A claim as text: all that any node needs to end it. Immutable.
   *
   * <pre>
   * base64url of   1 topic id token version attempt next
   * 1        this format
   * id       key, or group:key, percent-encoded
   * token    of the claim in Redis: whoever does not know it can end nothing
   * version  of the value that was taken, hex
   * next     when a recurring message is due again, Redis time in ms; 0 for never
   * </pre>
   */
  private record ClaimText(
      MessageId id, String token, long version, int attempt, long nextDueMillis) {
    private static final String FORMAT = "1";
    private static final int WORDS = 7;

    /** Base64 of the longest id and the rest. */
    private static final int MOST_CHARS = 2_000;

    private static final Pattern TOKEN = Pattern.compile("[0-9a-f-]{36}");

    /** The claim of a message that was taken. */
    static ClaimText of(TopicDelivery<?> message) {
      MessageChange.Ack ack = message.ack();
      return new ClaimText(
          ack.id(), ack.token(), ack.handledVersion(), message.attempt(), ack.nextDueMillis());
    }

    String text() {
      String words =
          "%s %s %s %s %x %s %s"
              .formatted(FORMAT, id.topic(), id.id(), token, version, attempt, nextDueMillis);
      return Base64.getUrlEncoder().withoutPadding().encodeToString(words.getBytes(US_ASCII));
    }

    /** Reads one. Throws GameQueueException when it is no claim of this topic. */
    static ClaimText parse(String topic, String text) {
      try {
        byte[] decoded = Base64.getUrlDecoder().decode(text.length() > MOST_CHARS ? "" : text);
        String[] words = new String(decoded, US_ASCII).split(" ", WORDS + 1);
        if (words.length == WORDS && words[0].equals(FORMAT) && words[1].equals(topic)) {
          ClaimText read =
              new ClaimText(
                  id(topic, words[2]),
                  words[3],
                  Long.parseUnsignedLong(words[4], 16),
                  Integer.parseInt(words[5]),
                  Long.parseLong(words[6]));
          if (read.isSound()) {
            return read;
          }
        }
      } catch (IllegalArgumentException | GameQueueException e) {
        // the same answer: it came from elsewhere
      }
      throw new GameQueueException(
          "that is no claim of topic '" + topic + "' as a take returned it");
    }

    private static MessageId id(String topic, String encoded) {
      int colon = encoded.indexOf(':');
      MessageId id =
          MessageId.of(
              topic,
              colon < 0 ? null : PercentEncoding.unpercent(encoded.substring(0, colon)),
              PercentEncoding.unpercent(encoded.substring(colon + 1)));
      if (!id.id().equals(encoded)) { // another spelling would be another field in Redis
        throw new GameQueueException("not as gameq encodes it");
      }
      return id;
    }

    private boolean isSound() {
      return TOKEN.matcher(token).matches()
          && attempt >= 1
          && attempt <= Retry.MOST_ATTEMPTS
          && nextDueMillis >= 0
          && nextDueMillis <= LAST_MILLIS;
    }

    /** With {@code slots} of the topic. */
    MessageChange.Ack ack(int slots) {
      return new MessageChange.Ack(id, id.slot(slots), version, token, nextDueMillis);
    }

    /** What scripts need of a message that was taken; without its value. */
    TakenMessage taken(int slots) {
      return new TakenMessage(id, id.slot(slots), token, 0, 0, attempt, 0, 0, 0, new byte[0]);
    }
  }

  /**
   * Takes messages of a topic for those who wait for some, the first first; asks Redis for nothing
   * while nobody does. Its thread is that of its runner; {@link #take} is for any.
   */
  static final class ClaimPoller implements Agent {
    private static final int MOST_WAITING = 1_000;

    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final String topic;
    private final AgentRunner runner;
    final Acknowledgements acks;
    private final TopicPoller poller;
    private final Deque<PendingClaim> waiting = new ArrayDeque<>();
    private boolean isClosed;

    /** Somebody who waits; {@code hasLooked} once Redis was asked meanwhile. */
    private static final class PendingClaim extends CompletableFuture<List<TakenMessage>> {
      private final int most;
      private final long deadlineNanos;
      private boolean hasLooked;

      PendingClaim(int most, long deadlineNanos) {
        this.most = most;
        this.deadlineNanos = deadlineNanos;
      }
    }

    ClaimPoller(OpenTopic<?> of) {
      this.topic = of.name();
      this.runner = new AgentRunner("gameq-claims-" + topic);
      this.acks = new Acknowledgements(of, runner::wake);
      this.poller = new TopicPoller(of, acks, runner::wake);
    }

    void start() {
      runner.start(this);
    }

    /**
     * Waits for messages; see {@link io.gameq.topic.Claims#take}. The future completes on the
     * thread that takes: what hangs on it must be quick.
     */
    CompletableFuture<List<TakenMessage>> take(int most, Duration wait) {
      PendingClaim one = new PendingClaim(most, System.nanoTime() + wait.toNanos());
      if (wait.isZero()) {
        poller.noticeAll(); // it waits for no notice: all slots are looked at before its end
      }
      synchronized (waiting) {
        if (isClosed) {
          throw new ClosedException("the node is closed: nothing is taken any more");
        }
        if (waiting.size() >= MOST_WAITING) {
          throw new QueueFullException(
              "%s wait for messages of topic '%s' already".formatted(MOST_WAITING, topic));
        }
        waiting.add(one);
      }
      runner.wake();
      return one;
    }

    @Override
    public String name() {
      return "take messages of topic '" + topic + "' for those who wait";
    }

    @Override
    public int doWork() {
      if (room() == 0 && acks.open() == 0) {
        return 0;
      }
      try {
        return poller.work(this::look, this::deliver);
      } catch (RedisUnavailableException e) {
        remove(of -> true).forEach(of -> of.completeExceptionally(e));
        throw e;
      } finally {
        expire();
      }
    }

    private int look() {
      synchronized (waiting) {
        waiting.forEach(of -> of.hasLooked = true);
        return room();
      }
    }

    private int room() {
      synchronized (waiting) {
        waiting.removeIf(CompletableFuture::isDone); // who was cancelled
        return Math.min(ConsumerScripts.MOST_TAKEN, waiting.stream().mapToInt(of -> of.most).sum());
      }
    }

    private void deliver(List<TakenMessage> taken) {
      int from = 0;
      while (from < taken.size()) {
        PendingClaim next;
        synchronized (waiting) {
          next = waiting.poll();
        }
        if (next == null) {
          giveBack(taken.subList(from, taken.size())); // who waited for it was cancelled
          return;
        }
        List<TakenMessage> some = taken.subList(from, Math.min(taken.size(), from + next.most));
        if (next.complete(some)) {
          from += some.size();
        }
      }
    }

    /** Of whoever does not want them any more. */
    void giveBack(List<TakenMessage> taken) {
      taken.forEach(acks::giveBack);
      runner.wake();
    }

    /** Whose time is up gets nothing, once all that may be due has been looked at. */
    private void expire() {
      long latest = System.nanoTime() - (poller.waitNanos() == 0 ? IDLE_NANOS : 0);
      for (PendingClaim of : remove(of -> of.deadlineNanos - latest <= 0)) {
        boolean unused =
            of.hasLooked
                ? of.complete(List.of())
                : of.completeExceptionally(
                    new RedisUnavailableException(
                        ("messages of topic '%s' cannot be taken: Redis is away, or the node puts"
                                + " back what Redis lost")
                            .formatted(topic)));
      }
    }

    /** Takes some out of those who wait, to be told without the lock. */
    private List<PendingClaim> remove(Predicate<PendingClaim> some) {
      synchronized (waiting) {
        List<PendingClaim> removed = waiting.stream().filter(some).toList();
        waiting.removeAll(removed);
        return removed;
      }
    }

    @Override
    public long idleNanos() {
      long now = System.nanoTime();
      synchronized (waiting) {
        return waiting.stream().mapToLong(of -> Math.max(0, of.deadlineNanos - now)).min().stream()
            .map(first -> Math.min(first, poller.waitNanos()))
            .findFirst()
            .orElse(IDLE_NANOS);
      }
    }

    /** Nobody waits any more; for whoever closes the node. */
    void stop() {
      synchronized (waiting) {
        isClosed = true;
      }
      remove(of -> true).forEach(of -> of.complete(List.of()));
      runner.close();
    }

    @Override
    public void close() {
      poller.close();
    }
  }
}

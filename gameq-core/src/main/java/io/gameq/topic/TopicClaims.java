package io.gameq.topic;

import io.gameq.ClaimLostException;
import io.gameq.Claimed;
import io.gameq.Claims;
import io.gameq.GameQueueException;
import io.gameq.message.MessageChange;
import io.gameq.redis.topic.ConsumerScripts.Failure;
import io.gameq.redis.topic.ConsumerScripts.NackResult;
import io.gameq.redis.topic.TakenMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A topic's messages taken by hand, on one node. Thread-safe. */
final class TopicClaims<T> implements Claims<T> {
  private static final Duration LONGEST_WAIT = Duration.ofHours(1);
  private static final Duration LONGEST_DELAY = Duration.ofDays(366);

  private final NodeTopics topics;
  private final OpenTopic<T> topic;
  private final TopicNode node;

  TopicClaims(NodeTopics topics, OpenTopic<T> topic) {
    this.topics = topics;
    this.topic = topic;
    this.node = topic.node();
  }

  @Override
  public CompletableFuture<List<Claimed<T>>> take(int most, Duration wait) {
    if (most < 1 || most > MOST) {
      throw new GameQueueException("take 1 to %d messages: %d".formatted(MOST, most));
    }
    if (wait.isNegative() || wait.compareTo(LONGEST_WAIT) > 0) {
      throw new GameQueueException("wait for messages from 0 to an hour: " + wait);
    }
    ClaimTaking taking = topics.taking(topic);
    CompletableFuture<List<Claimed<T>>> told = new CompletableFuture<>();
    CompletableFuture<Taker.Taken> taken = taking.take(most, wait);
    CompletableFuture<?> unused =
        told.whenComplete((all, error) -> taken.cancel(false)); // of no use when it came
    unused =
        taken.whenComplete(
            (some, error) -> {
              if (error == null) {
                node.callbacks().execute(() -> tell(told, some, taking));
              } else {
                node.callbacks().execute(() -> told.completeExceptionally(error));
              }
            });
    return told;
  }

  private void tell(
      CompletableFuture<List<Claimed<T>>> told, Taker.Taken some, ClaimTaking taking) {
    List<Claimed<T>> all =
        HeldMessage.hold(topic, some, taking.outcomes()).stream()
            .map(TopicClaims::claimed)
            .toList();
    if (!told.complete(all)) { // cancelled
      taking.giveBack(some);
    }
  }

  private static <T> Claimed<T> claimed(HeldMessage<T> of) {
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
          "at most %d claims in one call: %d".formatted(MOST, claims.size()));
    }
    Map<String, ClaimText> parsed = new LinkedHashMap<>();
    claims.forEach(text -> parsed.computeIfAbsent(text, of -> ClaimText.parse(topic.name(), of)));
    return parsed;
  }

  @Override
  public CompletableFuture<List<String>> acknowledge(List<String> claims) {
    Map<String, ClaimText> left = parse(claims);
    List<String> lost = Collections.synchronizedList(new ArrayList<>());
    List<CompletableFuture<Void>> outcomes = new ArrayList<>();
    while (!left.isEmpty()) {
      outcomes.add(acknowledge(some(left), lost));
    }
    return CompletableFuture.allOf(outcomes.toArray(CompletableFuture<?>[]::new))
        .thenApply(nothing -> List.copyOf(lost));
  }

  /** As many as one commit may hold, no two of one message: those would count as one change. */
  private Map<String, ClaimText> some(Map<String, ClaimText> left) {
    Map<String, ClaimText> some = new LinkedHashMap<>();
    Set<String> ids = new HashSet<>();
    int most = Math.min(Outcomes.MOST_TOGETHER, node.commitMessages());
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
    return node.commits()
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
              return acknowledgeEach(claims, lost); // one of them was lost, so none is done
            });
  }

  private CompletableFuture<Void> acknowledgeEach(
      Map<String, ClaimText> claims, List<String> lost) {
    List<CompletableFuture<Void>> outcomes = new ArrayList<>();
    claims.forEach((text, claim) -> outcomes.add(acknowledge(Map.of(text, claim), lost)));
    return CompletableFuture.allOf(outcomes.toArray(CompletableFuture<?>[]::new));
  }

  @Override
  public List<String> extend(List<String> claims, Duration fromNow) {
    HeldMessage.checkLease(fromNow);
    Map<String, ClaimText> parsed = parse(claims);
    List<TakenMessage> taken = parsed.values().stream().map(claim -> claim.taken(slots())).toList();
    List<Boolean> held =
        node.asking()
            .ask(
                "to extend leases of topic '" + topic.name() + "'",
                redis -> topic.scripts().extend(redis, taken, fromNow.toMillis()));
    return lost(parsed, held);
  }

  private int slots() {
    return topic.definition().slots();
  }

  @Override
  public List<String> fail(List<String> claims, String why, @Nullable Duration after) {
    checkDelay(after);
    return nack(
        claims,
        claim ->
            Failure.counted(
                claim.taken(slots()),
                millis(after, claim),
                Outcomes.cut(why),
                claim.nextDueMillis()));
  }

  @Override
  public List<String> giveBack(List<String> claims, @Nullable Duration after) {
    checkDelay(after);
    return nack(
        claims,
        claim -> Failure.notCounted(claim.taken(slots()), millis(after, claim), "given back"));
  }

  private static void checkDelay(@Nullable Duration after) {
    if (after != null && (after.isNegative() || after.compareTo(LONGEST_DELAY) > 0)) {
      throw new GameQueueException("the next attempt is after 0 to a year: " + after);
    }
  }

  private long millis(@Nullable Duration after, ClaimText claim) {
    return after == null
        ? Outcomes.backoffMillis(topic.options().retry(), claim.attempt())
        : after.toMillis();
  }

  private List<String> nack(List<String> claims, Function<ClaimText, Failure> failure) {
    Map<String, ClaimText> parsed = parse(claims);
    List<Failure> failures = parsed.values().stream().map(failure).toList();
    List<Boolean> held =
        node
            .asking()
            .ask(
                "to fail messages of topic '" + topic.name() + "'",
                redis -> topic.scripts().nack(redis, failures))
            .stream()
            .map(result -> result != NackResult.CLAIM_LOST)
            .toList();
    return lost(parsed, held);
  }

  private static List<String> lost(Map<String, ClaimText> claims, List<Boolean> held) {
    List<String> lost = new ArrayList<>();
    List<String> texts = List.copyOf(claims.keySet());
    for (int i = 0; i < texts.size(); i++) {
      if (!held.get(i)) {
        lost.add(texts.get(i));
      }
    }
    return lost;
  }
}

package io.gameq.topic;

import io.gameq.ClaimLostException;
import io.gameq.Claimed;
import io.gameq.Claims;
import io.gameq.GameQueueException;
import io.gameq.TopicOptions;
import io.gameq.message.MessageChange;
import io.gameq.redis.topic.ExtendScript;
import io.gameq.redis.topic.NackMessageScript;
import io.gameq.redis.topic.TakenMessage;
import io.gameq.redis.topic.TopicDefinition;
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
  private final TopicNode node;
  private final TopicDefinition definition;
  private final TopicOptions options;
  private final Payloads<T> payloads;

  TopicClaims(
      NodeTopics topics, TopicDefinition definition, TopicOptions options, Payloads<T> payloads) {
    this.topics = topics;
    this.node = topics.node();
    this.definition = definition;
    this.options = options;
    this.payloads = payloads;
  }

  @Override
  public CompletableFuture<List<Claimed<T>>> take(int most, Duration wait) {
    if (most < 1 || most > MOST) {
      throw new GameQueueException("take 1 to %d messages: %d".formatted(MOST, most));
    }
    if (wait.isNegative() || wait.compareTo(LONGEST_WAIT) > 0) {
      throw new GameQueueException("wait for messages from 0 to an hour: " + wait);
    }
    ClaimTaking taking = topics.taking(definition, options);
    CompletableFuture<List<Claimed<T>>> told = new CompletableFuture<>();
    CompletableFuture<ClaimTaking.Batch> taken = taking.take(most, wait);
    CompletableFuture<?> unused =
        told.whenComplete((all, error) -> taken.cancel(false)); // of no use when it came
    unused =
        taken.whenComplete(
            (batch, error) -> {
              if (error == null) {
                node.callbacks().execute(() -> tell(told, batch, taking));
              } else {
                node.callbacks().execute(() -> told.completeExceptionally(error));
              }
            });
    return told;
  }

  private void tell(
      CompletableFuture<List<Claimed<T>>> told, ClaimTaking.Batch batch, ClaimTaking taking) {
    Holding<T> holding =
        new Holding<>(
            new HeldMessage.Terms<>(node, options, payloads, (taken, millis) -> false),
            taking.outcomes(),
            taking.counts());
    List<Claimed<T>> all =
        holding.hold(batch.messages(), batch.leaseEndNanos()).stream()
            .map(TopicClaims::claimed)
            .toList();
    if (!told.complete(all)) { // cancelled
      taking.giveBack(batch.messages());
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
    claims.forEach(
        text -> parsed.computeIfAbsent(text, of -> ClaimText.parse(definition.topic(), of)));
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
        claims.values().stream()
            .<MessageChange>map(claim -> claim.ack(definition.slots()))
            .toList();
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
    List<TakenMessage> taken = taken(parsed);
    List<Boolean> held =
        node.asking()
            .ask(
                "to extend leases of topic '" + definition.topic() + "'",
                redis -> ExtendScript.call(redis, node.slots(), taken, fromNow.toMillis()));
    return lost(parsed, held);
  }

  private List<TakenMessage> taken(Map<String, ClaimText> claims) {
    return claims.values().stream().map(claim -> claim.taken(definition.slots())).toList();
  }

  @Override
  public List<String> fail(List<String> claims, String why, @Nullable Duration after) {
    checkDelay(after);
    return nack(
        claims,
        claim ->
            NackMessageScript.Failure.counted(
                claim.taken(definition.slots()),
                millis(after, claim),
                Outcomes.cut(why),
                claim.nextDueMillis()));
  }

  @Override
  public List<String> giveBack(List<String> claims, @Nullable Duration after) {
    checkDelay(after);
    return nack(
        claims,
        claim ->
            NackMessageScript.Failure.notCounted(
                claim.taken(definition.slots()), millis(after, claim), "given back"));
  }

  private static void checkDelay(@Nullable Duration after) {
    if (after != null && (after.isNegative() || after.compareTo(LONGEST_DELAY) > 0)) {
      throw new GameQueueException("the next attempt is after 0 to a year: " + after);
    }
  }

  private long millis(@Nullable Duration after, ClaimText claim) {
    return after == null
        ? Outcomes.backoffMillis(options.retry(), claim.attempt())
        : after.toMillis();
  }

  private List<String> nack(
      List<String> claims, Function<ClaimText, NackMessageScript.Failure> failure) {
    Map<String, ClaimText> parsed = parse(claims);
    List<NackMessageScript.Failure> failures = parsed.values().stream().map(failure).toList();
    NackMessageScript nack = new NackMessageScript(definition.topic(), options.retry().attempts());
    List<Boolean> held =
        node
            .asking()
            .ask(
                "to fail messages of topic '" + definition.topic() + "'",
                redis -> nack.call(redis, node.slots(), failures))
            .stream()
            .map(result -> result != NackMessageScript.Result.CLAIM_LOST)
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

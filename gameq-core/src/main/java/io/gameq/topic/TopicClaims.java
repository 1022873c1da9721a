package io.gameq.topic;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.ClaimLostException;
import io.gameq.Claimed;
import io.gameq.Claims;
import io.gameq.GameQueueException;
import io.gameq.Retry;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.owner.DurableSessions.PercentEncoding;
import io.gameq.redis.ControlConnection.RedisConnection;
import io.gameq.redis.topic.ConsumerScripts.Failure;
import io.gameq.redis.topic.ConsumerScripts.NackResult;
import io.gameq.redis.topic.ConsumerScripts.TakenMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A topic's messages taken by hand, on one node. Thread-safe. */
final class TopicClaims<T> implements Claims<T> {
  private static final Duration LONGEST_WAIT = Duration.ofHours(1);
  private static final Duration LONGEST_DELAY = Duration.ofDays(366);

  private final OpenTopic<T> topic;

  TopicClaims(OpenTopic<T> topic) {
    this.topic = topic;
  }

  @Override
  public CompletableFuture<List<Claimed<T>>> take(int most, Duration wait) {
    if (most < 1 || most > MOST) {
      throw new GameQueueException("take 1 to %s messages: %s".formatted(MOST, most));
    }
    if (wait.isNegative() || wait.compareTo(LONGEST_WAIT) > 0) {
      throw new GameQueueException("wait for messages from 0 to an hour: " + wait);
    }
    ClaimTaking taking = topic.topics.taking(topic);
    CompletableFuture<List<Claimed<T>>> told = new CompletableFuture<>();
    CompletableFuture<Taker.Taken> taken = taking.take(most, wait);
    CompletableFuture<?> unused =
        told.whenComplete((all, error) -> taken.cancel(false)); // of no use when it came
    unused =
        taken.whenComplete(
            (some, error) -> {
              if (error == null) {
                topic.node.callbacks().execute(() -> tell(told, some, taking));
              } else {
                topic.node.callbacks().execute(() -> told.completeExceptionally(error));
              }
            });
    return told;
  }

  private void tell(
      CompletableFuture<List<Claimed<T>>> told, Taker.Taken some, ClaimTaking taking) {
    List<Claimed<T>> all =
        HeldMessage.hold(topic, some, taking.outcomes).stream().map(TopicClaims::claimed).toList();
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
    int most = Math.min(Outcomes.MOST_TOGETHER, topic.node.config().limits().commitRows());
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
        .node
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
    HeldMessage.checkLease(fromNow);
    return lost(
        claims,
        "to extend leases of topic",
        claim -> claim.taken(slots()),
        (redis, taken) -> topic.scripts.extend(redis, taken, fromNow.toMillis()));
  }

  private int slots() {
    return topic.definition.slots();
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
    return lost(
        claims,
        "to fail messages of topic",
        failure,
        (redis, failures) ->
            topic.scripts.nack(redis, failures).stream()
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
    static ClaimText of(HeldMessage<?> message) {
      MessageChange.Ack ack = message.ack();
      return new ClaimText(
          ack.id(), ack.token(), ack.handledVersion(), message.attempt(), ack.nextDueMillis());
    }

    String text() {
      String words =
          String.join(
              " ",
              FORMAT,
              id.topic(),
              id.id(),
              token,
              Long.toHexString(version),
              Integer.toString(attempt),
              Long.toString(nextDueMillis));
      return Base64.getUrlEncoder().withoutPadding().encodeToString(words.getBytes(US_ASCII));
    }

    /** Reads one. Throws GameQueueException when it is no claim of this topic. */
    static ClaimText parse(String topic, String text) {
      try {
        if (text.length() <= MOST_CHARS) {
          String[] words =
              new String(Base64.getUrlDecoder().decode(text), US_ASCII).split(" ", WORDS + 1);
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
          && nextDueMillis <= OpenTopic.LAST_MILLIS;
    }

    /** With {@code slots} of the topic. */
    MessageChange.Ack ack(int slots) {
      return new MessageChange.Ack(id, id.slot(slots), version, token, nextDueMillis);
    }

    /** What scripts need of a message that was taken; without its value. */
    TakenMessage taken(int slots) {
      return new TakenMessage(id, id.slot(slots), token, 0, 0, attempt, 0, 0, new byte[0]);
    }
  }
}

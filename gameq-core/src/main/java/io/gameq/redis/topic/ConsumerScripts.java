package io.gameq.redis.topic;

import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.owner.OwnerId;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a node's consumers do to the messages of a topic: {@code take.lua}, {@code extend.lua},
 * {@code nack.lua}, {@code grant.lua} and {@code handle.lua}. Each call needs a connection that no
 * other thread uses meanwhile. Immutable.
 */
public final class ConsumerScripts {
  /** Of {@code take.lua}, which puts so many into one command: unpack fails near 8,000 words. */
  public static final int MOST_TAKEN = 1_000;

  /** Calls on several messages are cut into such pieces: each holds Redis for a millisecond. */
  private static final int MOST_AT_ONCE = 200;

  /** The first words of the reply of {@code take.lua}. */
  private static final int HEAD = 5;

  /** Words of each message in that reply. */
  private static final int WORDS = 5;

  public static final LuaScript TAKE = script("handlers.lua", "take.lua");
  public static final LuaScript EXTEND = script("extend.lua");
  private static final LuaScript NACK = script("nack.lua");
  private static final LuaScript GRANT = script("grant.lua");
  private static final LuaScript HANDLE = script("handlers.lua", "handle.lua");

  /** Owners in one call of {@code handle.lua}. */
  private static final int MOST_OWNERS = 500;

  private final TopicDefinition definition;
  private final SlotKeys[] slots;
  private final String node;
  private final LongSupplier latestMillis;

  /**
   * What to take from one slot.
   *
   * @param most messages, 1 to {@link #MOST_TAKEN}
   */
  public record Share(int slot, int most) {}

  /**
   * Whether a process handles an owner's messages from now on, or no more.
   *
   * @param epoch of its session, 16 hex digits; empty for that of any session, which is handled no
   *     more
   */
  public record HandledOwner(OwnerId owner, String epoch, boolean isHandled) {}

  /**
   * What take.lua answered.
   *
   * @param waitMillis until the next message of the slot is due; -1 when none is; 0 when more are
   *     due now
   * @param taken to be handled
   * @param exhausted taken as well, but they had all their attempts: to be given back by {@link
   *     #nack}, which makes dead letters of them
   * @param lapsed how many leases ran out, of anybody's, and were ended
   */
  public record Batch(
      long waitMillis, List<TakenMessage> taken, List<TakenMessage> exhausted, int lapsed) {}

  /**
   * An attempt that failed.
   *
   * @param backoffMillis until the next attempt
   * @param attempt what it was
   * @param error kept with a dead letter
   * @param nextDueMillis when a recurring message is due again if this was its last attempt, Redis
   *     time in ms; 0 for never
   */
  public record Failure(
      TakenMessage taken, long backoffMillis, Attempt attempt, String error, long nextDueMillis) {}

  /** What an attempt was. */
  public enum Attempt {
    /** Nobody's fault: it does not count. The message is due when it may be tried again. */
    PUT_OFF(0),
    /** One of those that a message has. */
    FAILED(1),
    /** None: the message stays due when it was, and its lane waits. */
    GIVEN_BACK(2);

    /** As {@code nack.lua} takes it. */
    private final int number;

    Attempt(int number) {
      this.number = number;
    }
  }

  /** What became of a message whose handling failed. */
  public enum NackResult {
    /** Its lease had run out, or it was acknowledged: nothing was changed. */
    CLAIM_LOST,
    /** It waits for its next attempt. */
    BACK,
    /** A newer one of its key waits in its place, or it was deleted meanwhile. */
    DROPPED,
    /** It is a dead letter. */
    DEAD,
    /** It would be, but its slot has 10,000 already: it waits on, at least a minute. */
    DEAD_FULL
  }

  /**
   * What was granted.
   *
   * @param waitMillis until another message is granted
   */
  public record Grant(int messages, long waitMillis) {}

  /**
   * Scripts for a topic.
   *
   * @param slots of the namespace, by number
   * @param node in whose name messages are taken
   * @param latestMillis the latest time that any Redis of this node may have told until now, ms:
   *     fences of one that is gone, and whose clock was ahead, were lower
   */
  public ConsumerScripts(
      TopicDefinition definition, SlotKeys[] slots, String node, LongSupplier latestMillis) {
    this.latestMillis = latestMillis;
    this.definition = definition;
    this.slots = slots.clone();
    this.node = PercentEncoding.percent(node.isEmpty() ? "-" : node);
  }

  /** A script of this package, with what all of them need in front. */
  static LuaScript script(String... resources) {
    return LuaScript.of(
        ConsumerScripts.class,
        Stream.concat(
                Stream.of("/io/gameq/redis/script/topic.lua", "lanes.lua"), Stream.of(resources))
            .toArray(String[]::new));
  }

  /**
   * Takes from several slots in one go; one that fails does not disturb the others. Messages may
   * have been taken from it if Redis did not answer; their leases run out.
   *
   * @param process of a topic of owners, whose messages are taken: 8 hex digits; empty for owners
   *     that nobody handles; null of other topics
   */
  public List<LuaScript.Answer<Batch>> take(
      RedisConnection redis, List<Share> shares, @Nullable String process) {
    String token = UUID.randomUUID().toString();
    long leaseEndNanos =
        System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(definition.leaseMillis());
    List<LuaScript.Call> calls =
        shares.stream()
            .map(of -> new LuaScript.Call(slots[of.slot], args(of, token, process)))
            .toList();
    Iterator<Share> of = shares.iterator();
    return TAKE.callEach(redis, calls).stream()
        .map(
            answer -> {
              int slot = of.next().slot;
              return answer.map(reply -> batch(reply, slot, token, leaseEndNanos));
            })
        .toList();
  }

  private List<?> args(Share of, String token, @Nullable String process) {
    List<?> args =
        List.of(
            definition.topic(),
            Math.min(of.most, MOST_TAKEN),
            token,
            definition.leaseMillis(),
            definition.ageMillis(),
            node,
            latestMillis.getAsLong());
    return process == null ? args : List.of(args, process);
  }

  /**
   * Says that a process is there, in all slots of the topic, and which owners it handles, in the
   * order of the list.
   *
   * @return slots that had forgotten the process: it is to say all of them again
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; some may be told then
   */
  public Set<Integer> handle(RedisConnection redis, String process, List<HandledOwner> owners) {
    Map<Integer, List<HandledOwner>> bySlot =
        owners.stream().collect(Collectors.groupingBy(of -> of.owner().slot(definition.slots())));
    List<LuaScript.Call> calls = new ArrayList<>();
    for (int slot = 0; slot < definition.slots(); slot++) {
      List<HandledOwner> all = bySlot.getOrDefault(slot, List.of());
      for (List<HandledOwner> some :
          all.isEmpty() ? List.of(all) : LuaScript.pieces(all, MOST_OWNERS)) {
        List<?> args =
            some.stream()
                .map(of -> List.of(of.owner().encoded(), of.epoch(), of.isHandled()))
                .toList();
        calls.add(new LuaScript.Call(slots[slot], List.of(definition.topic(), process, args)));
      }
    }
    Set<Integer> forgotten = new HashSet<>();
    List<LuaScript.Answer<List<Object>>> answers = HANDLE.callEach(redis, calls);
    for (int i = 0; i < calls.size(); i++) {
      if (answers.get(i).get().get(0).equals(0L)) {
        forgotten.add(calls.get(i).slots().get(0).slot());
      }
    }
    return forgotten;
  }

  private Batch batch(List<Object> reply, int slot, String token, long leaseEndNanos) {
    long now = (Long) reply.get(2);
    long fence = (Long) reply.get(3) << 16 | (Long) reply.get(4);
    List<TakenMessage> taken = new ArrayList<>((reply.size() - HEAD) / WORDS);
    List<TakenMessage> exhausted = new ArrayList<>(0);
    for (int i = HEAD; i < reply.size(); i += WORDS) {
      TakenMessage message =
          new TakenMessage(
              new MessageId(definition.topic(), LuaScript.string(reply.get(i))),
              slot,
              token,
              now,
              fence,
              ((Long) reply.get(i + 1)).intValue(),
              Integer.parseInt(LuaScript.string(reply.get(i + 2))),
              millis(reply.get(i + 3)),
              leaseEndNanos,
              (byte[]) reply.get(i + 4));
      (message.attempts() > definition.mostAttempts() ? exhausted : taken).add(message);
    }
    return new Batch((Long) reply.get(0), taken, exhausted, ((Long) reply.get(1)).intValue());
  }

  /**
   * Has leases end so long from now.
   *
   * @return for each whether it is still held by its token; else nothing was changed of it
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; some may be prolonged
   */
  public List<Boolean> extend(RedisConnection redis, List<TakenMessage> taken, long leaseMillis) {
    return callEach(EXTEND, redis, leaseMillis, taken, i -> List.of())
        .boxed()
        .map(held -> held == 1)
        .toList();
  }

  /**
   * Gives back messages whose handling failed; those that failed too often become dead letters.
   *
   * @return the results in the order of the failures
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; some may be given back
   */
  public List<NackResult> nack(RedisConnection redis, List<Failure> failures) {
    return callEach(
            NACK,
            redis,
            definition.mostAttempts(),
            failures.stream().map(Failure::taken).toList(),
            i -> {
              Failure of = failures.get(i);
              return List.of(
                  of.backoffMillis, of.attempt.number, of.nextDueMillis, LuaScript.utf8(of.error));
            })
        .mapToObj(number -> NackResult.values()[(int) number])
        .toList();
  }

  /**
   * Calls a script that answers a number for each message, in one go.
   *
   * @param limit the argument between the topic and those of the messages
   * @param more arguments of each message behind id and token
   * @return the numbers, in the order of the messages
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; some may be done then
   */
  private LongStream callEach(
      LuaScript script,
      RedisConnection redis,
      long limit,
      List<TakenMessage> taken,
      IntFunction<List<?>> more) {
    List<Integer> asked = new ArrayList<>(taken.size());
    List<LuaScript.Call> calls = new ArrayList<>();
    IntStream.range(0, taken.size())
        .boxed()
        .collect(Collectors.groupingBy(i -> taken.get(i).slot()))
        .forEach(
            (slot, all) -> {
              for (List<Integer> piece : LuaScript.pieces(all, MOST_AT_ONCE)) {
                asked.addAll(piece);
                List<?> args =
                    piece.stream()
                        .map(
                            i ->
                                List.of(
                                    taken.get(i).id().id(), taken.get(i).token(), more.apply(i)))
                        .toList();
                calls.add(
                    new LuaScript.Call(slots[slot], List.of(definition.topic(), limit, args)));
              }
            });
    long[] numbers = new long[taken.size()];
    Iterator<Integer> of = asked.iterator();
    script
        .callEach(redis, calls)
        .forEach(answer -> answer.get().forEach(it -> numbers[of.next()] = (Long) it));
    return LongStream.of(numbers);
  }

  /**
   * Asks for messages of the rate that all nodes of the topic share. A tenth of a second's may come
   * at once after a rest, one at least. The first slot of the namespace is the place for all nodes.
   *
   * @param perSecond more than 0
   * @param most messages; a negative number gives back grants that were not used
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; some may be granted
   */
  public Grant grant(RedisConnection redis, double perSecond, int most) {
    List<Object> reply = GRANT.call(redis, slots[0], definition.topic(), perSecond, most);
    return new Grant(((Long) reply.get(0)).intValue(), (Long) reply.get(1));
  }

  /** A score of a sorted set, as text. */
  static long millis(Object reply) {
    return (long) Double.parseDouble(LuaScript.string(reply));
  }

  /**
   * A message in the hands of one consumer, under a lease. Immutable.
   *
   * @param slot of the namespace that it lies in
   * @param token of its claim
   * @param takenMillis when it was taken, Redis TIME in ms
   * @param fence higher each time that a message of this lane is taken, also when Redis' clock went
   *     back: it tells no time
   * @param attempts how often it was taken, this time counted
   * @param lapses how often its lease ran out before
   * @param dueMillis when it was due, Redis TIME in ms
   * @param leaseEndNanos when its lease ends, by System.nanoTime: no later than in Redis
   * @param value see {@link io.gameq.message.MessageChange.MessageValue}; not to be changed
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  public record TakenMessage(
      MessageId id,
      int slot,
      String token,
      long takenMillis,
      long fence,
      int attempts,
      int lapses,
      long dueMillis,
      long leaseEndNanos,
      byte[] value) {
    /** What publishes it again, due when it was. */
    public MessageChange.Publish publishedAgain() {
      return new MessageChange.Publish(id, slot, dueMillis, false, 0, value);
    }
  }
}

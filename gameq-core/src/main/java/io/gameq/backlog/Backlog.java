package io.gameq.backlog;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisServerCheck;
import io.gameq.redis.RedisState;
import io.gameq.redis.Slots;
import io.gameq.redis.script.Waiting;
import io.gameq.redis.topic.TopicSurvey;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.ToLongFunction;

/**
 * One look at what waits in Redis. The slots are looked at one after another: what moves meanwhile
 * may be missed or seen twice. Immutable.
 *
 * @param slots in order
 * @param redis the server on which they are
 * @param topics by name; none when Redis holds something else in place of their list
 * @param topicsLeft how many more there are, which were not looked at
 */
public record Backlog(
    List<Waiting> slots, RedisState redis, List<TopicBacklog> topics, int topicsLeft) {
  public Backlog {
    slots = List.copyOf(slots);
    topics = List.copyOf(topics);
  }

  /** Looks while nothing is paused; as {@link #of(RedisConnection, Slots, Set)}. */
  public static Backlog of(RedisConnection redis, Slots slots) {
    return of(redis, slots, Set.of());
  }

  /**
   * Looks, over a connection that no other thread uses meanwhile.
   *
   * @param paused tables whose rows are to wait: they do not count as old
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static Backlog of(RedisConnection redis, Slots slots, Set<String> paused) {
    return of(redis, slots, paused, Set.of());
  }

  /**
   * The same of a writer.
   *
   * @param refused tables that MySQL takes no rows of
   */
  public static Backlog of(
      RedisConnection redis, Slots slots, Set<String> paused, Set<String> refused) {
    List<Waiting> waiting = Waiting.inSlots(redis, slots, paused, refused);
    RedisState state = RedisServerCheck.state(redis);
    try {
      TopicSurvey survey = TopicSurvey.of(redis, slots);
      List<TopicBacklog> topics =
          survey.topics().stream()
              .filter(of -> of.error().isEmpty())
              .map(of -> TopicBacklog.of(of, survey.nowMillis()))
              .toList();
      return new Backlog(waiting, state, topics, survey.left());
    } catch (RedisUnavailableException e) {
      throw e;
    } catch (GameQueueException e) { // what is wrong with topics hides nothing of the rows
      return new Backlog(waiting, state, List.of(), 0);
    }
  }

  /** Of all slots together. */
  public long sum(ToLongFunction<Waiting> of) {
    return slots.stream().mapToLong(of).sum();
  }

  /** Owners with rows that are not in MySQL; one who commits while he is claimed counts twice. */
  public long owners() {
    return sum(Waiting::owners);
  }

  /**
   * Rows that no writer has claimed: their owners, times the rows that a few of each slot have.
   * Exact while few owners wait, else an estimate.
   */
  public long rows() {
    long counted = sum(Waiting::counted);
    return counted == 0
        ? 0
        : Math.round(
            (double) sum(Waiting::countedRows) / counted * sum(of -> of.due() + of.ready()));
  }

  /** How long the oldest waits, at least, ms; 0 when nobody does. */
  public long oldestAgeMillis() {
    return oldestAgeMillis(slot -> true);
  }

  /** The same without owners that are held up, for which nobody else waits. */
  public long oldestPassingAgeMillis() {
    return slots.stream().mapToLong(Waiting::oldestPassingAgeMillis).max().orElse(0);
  }

  /** The same of some slots alone, with all owners. */
  public long oldestAgeMillis(IntPredicate which) {
    return slots.stream()
        .filter(of -> which.test(of.slot()))
        .mapToLong(Waiting::oldestAgeMillis)
        .max()
        .orElse(0);
  }
}

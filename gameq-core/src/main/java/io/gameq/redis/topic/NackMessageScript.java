package io.gameq.redis.topic;

import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import java.util.List;

/**
 * {@code nack.lua}: gives back messages whose handling failed; those that failed too often become
 * dead letters. Immutable.
 */
public final class NackMessageScript {
  private static final LuaScript SCRIPT = TopicScript.of("nack.lua");

  private final String topic;
  private final int mostAttempts;

  /**
   * An attempt that failed.
   *
   * @param backoffMillis until the next attempt
   * @param counts whether it is one of those that a message has
   * @param error kept with a dead letter
   * @param nextDueMillis when a recurring message is due again if this was its last attempt, Redis
   *     time in ms; 0 for never
   */
  public record Failure(
      TakenMessage taken, long backoffMillis, boolean counts, String error, long nextDueMillis) {
    public static Failure counted(
        TakenMessage taken, long backoffMillis, String error, long nextDueMillis) {
      return new Failure(taken, backoffMillis, true, error, nextDueMillis);
    }

    /** Of nobody's fault: no message dies of it. */
    public static Failure notCounted(TakenMessage taken, long backoffMillis, String error) {
      return new Failure(taken, backoffMillis, false, error, 0);
    }
  }

  /** What became of a message. */
  public enum Result {
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

  /** Gives back messages of a topic, which have so many attempts. */
  public NackMessageScript(String topic, int mostAttempts) {
    this.topic = topic;
    this.mostAttempts = mostAttempts;
  }

  /**
   * Gives back, over a connection that no other thread uses meanwhile.
   *
   * @param slots of the namespace, by number
   * @return the results in the order of the failures
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; some may be given back
   */
  public List<Result> call(RedisConnection redis, SlotKeys[] slots, List<Failure> failures) {
    List<TopicScript.Item> items = failures.stream().map(NackMessageScript::item).toList();
    List<String> head = List.of(topic, Integer.toString(mostAttempts));
    return TopicScript.callEach(SCRIPT, redis, slots, head, items).stream()
        .map(number -> Result.values()[number.intValue()])
        .toList();
  }

  private static TopicScript.Item item(Failure of) {
    return new TopicScript.Item(
        of.taken,
        List.of(
            of.taken.id().id(),
            of.taken.token(),
            Long.toString(of.backoffMillis),
            of.counts ? "1" : "0",
            Long.toString(of.nextDueMillis),
            TopicScript.bytes(of.error)));
  }
}

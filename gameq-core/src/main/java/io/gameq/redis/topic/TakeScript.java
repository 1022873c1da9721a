package io.gameq.redis.topic;

import io.gameq.GameQueueException;
import io.gameq.message.MessageId;
import io.gameq.owner.PercentEncoding;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** {@code take.lua}: takes messages of a topic that are due. Immutable. */
public final class TakeScript {
  /** The script puts so many into one command: Lua's unpack fails near 8,000 words. */
  public static final int MOST = 1_000;

  private static final LuaScript SCRIPT = TopicScript.of("take.lua");

  /** The reply's first words. */
  private static final int HEAD = 5;

  /** Words of each message in the reply. */
  private static final int WORDS = 5;

  private final String topic;
  private final String node;
  private final Bounds bounds;
  private final LongSupplier latestMillis;

  /**
   * What holds for all that is taken.
   *
   * @param ageMillis by how much of being due earlier one step of priority counts; 0 for a topic
   *     without priorities
   * @param mostAttempts that a message has
   */
  public record Bounds(long leaseMillis, long ageMillis, int mostAttempts) {}

  /**
   * What to take from one slot.
   *
   * @param most messages, 1 to {@link #MOST}
   */
  public record Share(SlotKeys slot, int most) {}

  /**
   * What take.lua answered.
   *
   * @param waitMillis until the next message of the slot is due; -1 when none is; 0 when more are
   *     due now
   * @param taken to be handled
   * @param exhausted taken as well, but they had all their attempts: to be given back by {@link
   *     NackMessageScript}, which makes dead letters of them
   * @param lapsed how many leases ran out, of anybody's, and were ended
   */
  public record Batch(
      long waitMillis, List<TakenMessage> taken, List<TakenMessage> exhausted, int lapsed) {}

  /**
   * What a share brought.
   *
   * @param error why nothing is known of it: messages may have been taken if Redis did not answer;
   *     their leases run out
   */
  public record Answer(@Nullable Batch batch, @Nullable GameQueueException error) {}

  /** Takes in the name of a node that knew no other Redis before. */
  public TakeScript(String topic, String node, Bounds bounds) {
    this(topic, node, bounds, () -> 0);
  }

  /**
   * Takes in the name of a node.
   *
   * @param latestMillis the latest time that any Redis of this node may have told until now, ms:
   *     fences of one that is gone, and whose clock was ahead, were lower
   */
  public TakeScript(String topic, String node, Bounds bounds, LongSupplier latestMillis) {
    this.latestMillis = latestMillis;
    this.topic = topic;
    this.node = PercentEncoding.percent(node.isEmpty() ? "-" : node);
    this.bounds = bounds;
  }

  /**
   * Takes from several slots in one go, over a connection that no other thread uses meanwhile; one
   * that fails does not disturb the others.
   */
  public List<Answer> callEach(RedisConnection redis, List<Share> shares) {
    String token = UUID.randomUUID().toString();
    List<LuaScript.Call> calls =
        shares.stream().map(of -> new LuaScript.Call(of.slot, args(of.most, token))).toList();
    List<LuaScript.Answer> replies = SCRIPT.callEach(redis, calls);
    List<Answer> answers = new ArrayList<>(replies.size());
    for (int i = 0; i < replies.size(); i++) {
      LuaScript.Answer reply = replies.get(i);
      answers.add(
          reply.error() == null
              ? new Answer(batch(reply.get(), shares.get(i).slot.slot(), token), null)
              : new Answer(null, reply.error()));
    }
    return answers;
  }

  private List<String> args(int most, String token) {
    return List.of(
        topic,
        Integer.toString(Math.min(most, MOST)),
        token,
        Long.toString(bounds.leaseMillis),
        Long.toString(bounds.ageMillis),
        node,
        Long.toString(latestMillis.getAsLong()));
  }

  private Batch batch(List<Object> reply, int slot, String token) {
    long now = (Long) reply.get(2);
    long fence = (Long) reply.get(3) << 16 | (Long) reply.get(4);
    List<TakenMessage> taken = new ArrayList<>((reply.size() - HEAD) / WORDS);
    List<TakenMessage> exhausted = new ArrayList<>(0);
    for (int i = HEAD; i < reply.size(); i += WORDS) {
      TakenMessage message =
          new TakenMessage(
              new MessageId(topic, LuaScript.string(reply.get(i))),
              slot,
              token,
              now,
              fence,
              ((Long) reply.get(i + 1)).intValue(),
              Integer.parseInt(LuaScript.string(reply.get(i + 2))),
              TopicScript.millis(reply.get(i + 3)),
              (byte[]) reply.get(i + 4));
      (message.attempts() > bounds.mostAttempts ? exhausted : taken).add(message);
    }
    return new Batch((Long) reply.get(0), taken, exhausted, ((Long) reply.get(1)).intValue());
  }
}

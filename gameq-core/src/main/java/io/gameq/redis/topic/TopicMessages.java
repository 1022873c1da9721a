package io.gameq.redis.topic;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.topic.DefinedTopic.TopicDefinition;
import io.gameq.redis.topic.TopicMessages.TopicCounts;
import io.lettuce.core.KeyValue;
import io.lettuce.core.Limit;
import io.lettuce.core.MapScanCursor;
import io.lettuce.core.Range;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a topic as they are looked at, {@code find.lua}, {@code page.lua} and plain
 * commands; and what becomes of its dead letters, {@code revive.lua}. Stateless.
 */
public final class TopicMessages {
  /** Longest page. */
  public static final int MOST = 1_000;

  private static final LuaScript FIND = ConsumerScripts.script("find.lua");
  private static final LuaScript PAGE = ConsumerScripts.script("page.lua");
  private static final LuaScript REVIVE = ConsumerScripts.script("revive.lua");

  /** Dead letters that Redis looks at in one go. */
  private static final int SCANNED = 100;

  private static final ScanArgs SCAN = ScanArgs.Builder.limit(SCANNED);

  private TopicMessages() {}

  /** What became of a retry, by the number that {@code revive.lua} answers. */
  public enum Retried {
    /** There is no such dead letter any more, or a newer one. */
    GONE,
    /** It is due now. */
    RETRIED,
    /** A message of its key is pending or held: nothing was changed. */
    OVERTAKEN
  }

  /** In which of the lists of a slot. */
  public enum Place {
    /** By when they are due, the next of each group. */
    DUE("due"),
    /** Of topics with priorities: due, the one that is taken next first. */
    READY("ready"),
    /** Held, by when their leases end. */
    HELD("lease"),
    /** Of owners whose messages nobody handles, by when they were due. */
    UNHANDLED("unhandled");

    private final String key;

    Place(String key) {
      this.key = key;
    }
  }

  /**
   * A message in a list.
   *
   * @param millis when it is due, or its lease ends, Redis TIME in ms; of {@link Place#READY} the
   *     number that orders them
   * @param value null when somebody removed it in between
   * @param behind how many messages of its group wait behind it
   * @param attempts that failed; of a held one this one counted
   * @param node that holds it, else empty
   * @param error why one that waits was given back last; empty when it was not
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  public record ListedMessage(
      MessageId id,
      long millis,
      byte @Nullable [] value,
      long behind,
      int attempts,
      String node,
      String error) {}

  /**
   * Where one message is.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static FoundMessage find(RedisConnection redis, SlotKeys slot, MessageId id) {
    List<Object> of = FIND.call(redis, slot, id.topic(), id.id());
    FoundMessage.Version pending = null;
    if (isThere(of.get(0))) {
      int attempts =
          isThere(of.get(2)) ? Integer.parseInt(LuaScript.string(of.get(2)).split(" ", -1)[0]) : 0;
      pending =
          new FoundMessage.Version(
              (byte[]) of.get(0), millis(of.get(1)), attempts, "", LuaScript.text(of.get(8)));
    }
    FoundMessage.Version held = null;
    if (isThere(of.get(3))) {
      List<?> claim = (List<?>) of.get(4);
      int attempts = ((Long) claim.get(0)).intValue();
      held =
          new FoundMessage.Version(
              (byte[]) of.get(3), millis(of.get(5)), attempts, node(claim.get(2)), "");
    }
    FoundMessage.Version dead =
        isThere(of.get(6))
            ? FoundMessage.Version.dead((byte[]) of.get(6), LuaScript.text(of.get(7)))
            : null;
    return new FoundMessage(id, pending, held, dead);
  }

  /**
   * A page of a list of one slot.
   *
   * @param offset how many to leave out
   * @param most at most {@link #MOST}
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static List<ListedMessage> page(
      RedisConnection redis, SlotKeys slot, String topic, Place place, long offset, int most) {
    return page(redis, slot, topic, place.key, offset, most);
  }

  /** The messages of a group that wait, by when they are due; as the other {@code page}. */
  public static List<ListedMessage> page(
      RedisConnection redis, SlotKeys slot, MessageId ofGroup, long offset, int most) {
    String lane = ofGroup.lane();
    return page(
        redis, slot, ofGroup.topic(), "lane:" + lane.substring(0, lane.length() - 1), offset, most);
  }

  private static List<ListedMessage> page(
      RedisConnection redis, SlotKeys slot, String topic, String place, long offset, int most) {
    return PAGE.call(redis, slot, topic, place, offset, Math.min(most, MOST)).stream()
        .map(of -> listed(topic, (List<?>) of))
        .toList();
  }

  private static ListedMessage listed(String topic, List<?> of) {
    return new ListedMessage(
        new MessageId(topic, LuaScript.string(of.get(0))),
        ConsumerScripts.millis(of.get(1)),
        isThere(of.get(2)) ? (byte[]) of.get(2) : null,
        (Long) of.get(3),
        ((Long) of.get(4)).intValue(),
        node(of.get(5)),
        LuaScript.text(of.get(6)));
  }

  /**
   * How many messages are where, in all of these slots together, in one go over a connection that
   * no other thread uses meanwhile. Costs the same however many there are.
   *
   * @param nowMillis Redis TIME in ms
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static TopicCounts counts(
      RedisConnection redis, List<SlotKeys> slots, String topic, long nowMillis) {
    List<Supplier<TopicCounts>> asked = new ArrayList<>();
    redis.inOneGo(
        () -> slots.forEach(slot -> asked.add(ask(redis.async(), slot, topic, nowMillis))));
    TopicCounts all = TopicCounts.NONE;
    for (Supplier<TopicCounts> of : asked) {
      all = all.and(of.get());
    }
    return all;
  }

  /** Sends the questions for one slot; returns what awaits the answers. */
  private static Supplier<TopicCounts> ask(
      RedisAsyncCommands<byte[], byte[]> redis, SlotKeys slot, String topic, long nowMillis) {
    byte[] byDue = key(slot, topic, "due");
    var pending = redis.hlen(key(slot, topic, "msg"));
    var due = redis.zcount(byDue, Range.create(0.0, (double) nowMillis));
    var ready = redis.zcard(key(slot, topic, "ready"));
    var held = redis.hlen(key(slot, topic, "held"));
    var dead = redis.hlen(key(slot, topic, "dead"));
    var retrying = redis.hlen(key(slot, topic, "tries"));
    var first = redis.zrangebyscoreWithScores(byDue, Range.unbounded(), Limit.create(0, 1));
    return () ->
        new TopicCounts(
            RedisReply.await(pending),
            RedisReply.await(due) + RedisReply.await(ready),
            RedisReply.await(held),
            RedisReply.await(dead),
            RedisReply.await(retrying),
            RedisReply.await(first).stream()
                .mapToLong(it -> (long) it.getScore())
                .findFirst()
                .orElse(-1));
  }

  /**
   * Tells of the dead letters of a slot, in no order, until it is enough: each at least once if it
   * was there all the time.
   *
   * @param each answers whether to go on
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static void eachDead(
      RedisConnection redis, SlotKeys slot, String topic, Predicate<FoundMessage> each) {
    ScanCursor at = ScanCursor.INITIAL;
    do {
      ScanCursor from = at;
      MapScanCursor<byte[], byte[]> page =
          RedisReply.await(() -> redis.sync().hscan(key(slot, topic, "why"), from, SCAN));
      for (FoundMessage found : found(redis, slot, topic, page.getMap())) {
        if (!each.test(found)) {
          return;
        }
      }
      at = page;
    } while (!at.isFinished());
  }

  private static List<FoundMessage> found(
      RedisConnection redis, SlotKeys slot, String topic, Map<byte[], byte[]> why) {
    List<FoundMessage> found = new ArrayList<>();
    for (List<Map.Entry<byte[], byte[]>> some :
        LuaScript.pieces(List.copyOf(why.entrySet()), SCANNED)) {
      byte[][] ids = some.stream().map(Map.Entry::getKey).toArray(byte[][]::new);
      List<KeyValue<byte[], byte[]>> values =
          RedisReply.await(() -> redis.sync().hmget(key(slot, topic, "dead"), ids));
      for (int i = 0; i < some.size(); i++) {
        if (values.get(i).hasValue()) {
          MessageId id = new MessageId(topic, LuaScript.string(ids[i]));
          byte[] value = values.get(i).getValue();
          String words = LuaScript.text(some.get(i).getValue());
          found.add(new FoundMessage(id, null, null, FoundMessage.Version.dead(value, words)));
        }
      }
    }
    return found;
  }

  /**
   * Has a dead letter handled again, at once, with all its attempts.
   *
   * @param version of the dead letter that is meant
   * @param payload in place of its own; null for the same
   * @throws io.gameq.GameQueueException when Redis reached maxmemory; nothing was changed then
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; it may be done
   */
  public static Retried retryDead(
      RedisConnection redis, SlotKeys slot, MessageId id, long version, byte @Nullable [] payload) {
    Object given = payload == null ? "" : payload;
    return revive(redis, slot, id, version, "retry", given, payload != null);
  }

  /**
   * Removes a dead letter; false when it is not there any more, or a newer one is. Throws
   * RedisUnavailableException when Redis does not answer; it may be gone then.
   */
  public static boolean discardDead(
      RedisConnection redis, SlotKeys slot, MessageId id, long version) {
    return revive(redis, slot, id, version, "discard") == Retried.RETRIED;
  }

  private static Retried revive(
      RedisConnection redis, SlotKeys slot, MessageId id, long version, Object... what) {
    String hex = HexFormat.of().toHexDigits(version);
    List<Object> reply = REVIVE.call(redis, slot, id.topic(), id.id(), hex, List.of(what));
    return Retried.values()[((Long) reply.get(0)).intValue()];
  }

  /** The key of a topic in a slot. */
  public static byte[] key(SlotKeys slot, String topic, String name) {
    return SlotKeys.bytes(slot.prefix() + ":t:" + topic + ":" + name);
  }

  private static long millis(Object score) {
    return isThere(score) ? ConsumerScripts.millis(score) : 0;
  }

  private static boolean isThere(Object reply) {
    return ((byte[]) reply).length > 0;
  }

  private static String node(Object encoded) {
    return PercentEncoding.unpercent(LuaScript.string(encoded));
  }

  /**
   * How many messages of a topic are where. Immutable.
   *
   * @param pending that wait, for their time, for a handler, or behind one of their lane
   * @param dueLanes lanes of which one is due: messages without a group, and groups
   * @param held that a handler has
   * @param dead letters
   * @param retrying of the pending ones, that failed and are to be tried again
   * @param firstDueMillis when the next one is due, or the longest overdue one was, Redis TIME in
   *     ms; -1 when none waits. Those sorted in by priority are not looked at
   */
  public record TopicCounts(
      long pending, long dueLanes, long held, long dead, long retrying, long firstDueMillis) {
    /** Of no message. */
    public static final TopicCounts NONE = new TopicCounts(0, 0, 0, 0, 0, -1);

    /** Of both together. */
    public TopicCounts and(TopicCounts other) {
      return new TopicCounts(
          pending + other.pending,
          dueLanes + other.dueLanes,
          held + other.held,
          dead + other.dead,
          retrying + other.retrying,
          firstDueMillis < 0 || other.firstDueMillis < 0
              ? Math.max(firstDueMillis, other.firstDueMillis)
              : Math.min(firstDueMillis, other.firstDueMillis));
    }
  }

  /** Where one message is: it can be pending, held and dead at a time, in different versions. */
  public record FoundMessage(
      MessageId id, @Nullable Version pending, @Nullable Version held, @Nullable Version dead) {

    /**
     * In one of these places.
     *
     * @param value see {@link io.gameq.message.MessageChange.MessageValue}
     * @param millis when it is due, its lease ends, or it was set aside, Redis TIME in ms
     * @param attempts that failed so far; of a held one this one counted
     * @param node that holds it, else empty
     * @param error of the last attempt, or why it was given back last; empty when it was not, and
     *     of a held one
     */
    @SuppressWarnings("ArrayRecordComponent") // nobody compares them
    public record Version(byte[] value, long millis, int attempts, String node, String error) {
      static Version dead(byte[] value, String why) {
        String[] words = why.split(" ", 3);
        return words.length < 3
            ? new Version(value, 0, 0, "", why)
            : new Version(
                value, Long.parseLong(words[0]), Integer.parseInt(words[1]), "", words[2]);
      }
    }
  }

  /**
   * One look at all topics of a namespace: seven short commands for each slot of each topic,
   * however many messages there are. The slots are looked at one after another: what moves
   * meanwhile may be missed or seen twice. Immutable.
   *
   * @param nowMillis when it began, Redis TIME in ms
   * @param topics by name
   * @param left how many more there are, which were not looked at
   */
  public record TopicSurvey(long nowMillis, List<TopicSummary> topics, int left) {
    /** More are not looked at: topics are few, and made by no player. */
    public static final int MOST_TOPICS = 200;

    public TopicSurvey {
      topics = List.copyOf(topics);
    }

    /**
     * One topic.
     *
     * @param definition null when it cannot be read
     * @param pause null when it is not paused
     * @param rate null when it has none
     * @param error why the topic could not be looked at, and its counts are zero; empty when it
     *     could
     */
    public record TopicSummary(
        String topic,
        @Nullable TopicDefinition definition,
        TopicCounts counts,
        DefinedTopic.@Nullable Pause pause,
        DefinedTopic.@Nullable Rate rate,
        String error) {
      /**
       * For how long the message waits that has been due for longest, at least; 0 when none is due.
       * Those that are sorted in by priority are not looked at.
       *
       * @param nowMillis of the survey
       */
      public long overdueMillis(long nowMillis) {
        long first = counts.firstDueMillis();
        return first < 0 ? 0 : Math.max(0, nowMillis - first);
      }
    }

    /**
     * Looks, over a connection that no other thread uses meanwhile. What is wrong with one topic is
     * told of that topic.
     *
     * @throws GameQueueException when the list of topics cannot be read
     * @throws RedisUnavailableException when Redis does not answer
     */
    public static TopicSurvey of(RedisConnection redis, Slots slots) {
      long nowMillis = RedisClock.now(redis);
      Map<String, String> texts = DefinedTopic.texts(redis, slots.namespace());
      List<TopicSummary> topics =
          texts.entrySet().stream()
              .limit(MOST_TOPICS)
              .map(of -> look(redis, slots, nowMillis, of.getKey(), of.getValue()))
              .toList();
      return new TopicSurvey(nowMillis, topics, texts.size() - topics.size());
    }

    /**
     * Looks at one topic; null when there is none of that name. Throws as the other, but for {@link
     * #MOST_TOPICS}.
     */
    public static @Nullable TopicSummary of(RedisConnection redis, Slots slots, String topic) {
      String text = DefinedTopic.texts(redis, slots.namespace()).get(topic);
      return text == null ? null : look(redis, slots, RedisClock.now(redis), topic, text);
    }

    private static TopicSummary look(
        RedisConnection redis, Slots slots, long nowMillis, String topic, String text) {
      DefinedTopic of = null;
      TopicCounts counts = TopicCounts.NONE;
      String error = "";
      try {
        MessageId.checkTopic(topic);
        of = DefinedTopic.ofText(topic, text);
        counts = TopicMessages.counts(redis, slots(of.definition(), slots), topic, nowMillis);
      } catch (RedisUnavailableException e) {
        throw e;
      } catch (GameQueueException e) {
        error = String.valueOf(e.getMessage());
      }
      return of == null
          ? new TopicSummary(topic, null, counts, null, null, error)
          : new TopicSummary(topic, of.definition(), counts, of.pause(), of.rate(), error);
    }

    /** Those that a topic has of the namespace's. */
    public static List<SlotKeys> slots(TopicDefinition definition, Slots slots) {
      return IntStream.range(0, Math.min(definition.slots(), slots.count()))
          .mapToObj(slots::get)
          .toList();
    }
  }
}

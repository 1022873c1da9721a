package io.gameq.redis.script;

import static io.gameq.redis.script.LuaScript.utf8;

import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.rows.EncodedRow;
import io.gameq.sign.SignFields;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * {@code waiting.lua}: what waits in one slot, at a cost that does not grow with it. Immutable.
 *
 * @param nowMillis Redis TIME when it was looked at, ms since 1970
 * @param due owners with rows whose merge window lasts or is over
 * @param overdue of these, those that may be claimed by now
 * @param ready owners that a claim left for the next one
 * @param claimed owners whose rows a writer has
 * @param lapsed of these, those whose lease ran out
 * @param oldestMillis since when, at least, the owner waits who has waited for longest, ms since
 *     1970; 0 when nobody waits. One row each of those who are next is looked at, and the end of
 *     the first merge window: rows of another owner may be older
 * @param oldestPassingMillis the same without owners that are held up: MySQL refused a row of
 *     theirs or its table, and others do not wait for them
 * @param counted owners whose rows were counted
 * @param countedRows their rows
 * @param stale sessions that committed after they had lost ownership
 * @param closing owners that were closed while rows waited
 * @param healing owners of which rows may be missing until their node has put them back
 * @param foreign keys of this slot that hold values of somebody else
 */
public record SlotBacklog(
    int slot,
    long nowMillis,
    long due,
    long overdue,
    long ready,
    long claimed,
    long lapsed,
    long oldestMillis,
    long oldestPassingMillis,
    long counted,
    long countedRows,
    long stale,
    long closing,
    long healing,
    long foreign) {
  public static final int NUMBERS = 14;

  private static final LuaScript SCRIPT = LuaScript.of(SlotBacklog.class, "waiting.lua");

  /** Owners of a slot whose rows are counted: some of each slot are many together. */
  private static final int MOST_COUNTED = 4;

  /**
   * Looks at all slots, over a connection that no other thread uses meanwhile.
   *
   * @param paused tables whose rows are to wait: they do not count as old
   * @param refused tables that MySQL takes no rows of: their owners are held up
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   * @throws io.gameq.GameQueueException when Redis refuses, as a replica does
   */
  public static List<SlotBacklog> inSlots(
      RedisConnection redis, Slots slots, Set<String> paused, Set<String> refused) {
    List<String> tables = new ArrayList<>(paused.stream().map(PercentEncoding::percent).toList());
    refused.forEach(table -> tables.add("!" + PercentEncoding.percent(table)));
    List<Object> args = List.of(MOST_COUNTED, tables);
    List<LuaScript.Call> calls = new ArrayList<>();
    for (int i = 0; i < slots.count(); i++) {
      calls.add(new LuaScript.Call(slots.get(i), args));
    }
    List<LuaScript.Answer<List<Object>>> answers = SCRIPT.callEach(redis, calls);
    List<SlotBacklog> waiting = new ArrayList<>();
    for (int i = 0; i < slots.count(); i++) {
      long[] of = answers.get(i).get().stream().mapToLong(Long.class::cast).toArray();
      waiting.add(of(i, of));
    }
    return waiting;
  }

  /** The inverse of {@link #numbers}. */
  public static SlotBacklog of(int slot, long[] of) {
    return new SlotBacklog(
        slot, of[0], of[1], of[2], of[3], of[4], of[5], of[6], of[7], of[8], of[9], of[10], of[11],
        of[12], of[13]);
  }

  /** All but the slot, in order, {@link #NUMBERS} of them. */
  public long[] numbers() {
    return SignFields.values(this).values().stream().skip(1).mapToLong(Long.class::cast).toArray();
  }

  /** Owners with rows that are not in MySQL; one who commits while he is claimed counts twice. */
  public long owners() {
    return due + ready + claimed;
  }

  /** How long the oldest waits, at least, ms; 0 when nobody does. */
  public long oldestAgeMillis() {
    return age(oldestMillis);
  }

  /** The same without owners that are held up. */
  public long oldestPassingAgeMillis() {
    return age(oldestPassingMillis);
  }

  private long age(long sinceMillis) {
    return sinceMillis == 0 ? 0 : Math.max(0, nowMillis - sinceMillis);
  }

  /**
   * Who waits in a slot, page by page, so that Redis goes on meanwhile; {@code rows.lua}: their
   * rows of one table. Stateless.
   */
  public static final class WaitingOwners {
    /** Owners that a script may be asked for: Redis does nothing else meanwhile. */
    public static final int MOST_AT_ONCE = 100;

    private static final LuaScript ROWS = LuaScript.of(WaitingOwners.class, "rows.lua");
    private static final int PAGE = 500;
    private static final ScanArgs SCAN = ScanArgs.Builder.limit(PAGE);

    private WaitingOwners() {}

    /**
     * All of a slot who wait, due, next or claimed: {@code owner:session}, of claimed ones {@code
     * owner:}. Claimed ones are looked for first and last: whoever is given back or claimed
     * meanwhile is found at one of the places.
     *
     * @throws io.gameq.GameQueueException when Redis does not answer, or one of the keys holds
     *     somebody else's value
     */
    public static Set<String> of(RedisConnection redis, SlotKeys slot) {
      Set<String> members = new LinkedHashSet<>();
      return RedisReply.await(
          () -> {
            addClaimed(redis, slot, members);
            ScanIterator.zscan(redis.sync(), slot.due(), SCAN)
                .forEachRemaining(of -> members.add(LuaScript.string(of.getValue())));
            addReady(redis, slot, members);
            addClaimed(redis, slot, members);
            return members;
          });
    }

    private static String claimed(byte[] owner) {
      return LuaScript.string(owner) + ":";
    }

    private static void addClaimed(RedisConnection redis, SlotKeys slot, Set<String> members) {
      ScanIterator.zscan(redis.sync(), slot.lease(), SCAN)
          .forEachRemaining(of -> members.add(claimed(of.getValue())));
    }

    /** It grows at its head and shrinks at its end: from page to page nobody is missed. */
    private static void addReady(RedisConnection redis, SlotKeys slot, Set<String> members) {
      List<byte[]> page;
      for (long from = 0; ; from += PAGE) {
        page = redis.sync().lrange(slot.ready(), from, from + PAGE - 1);
        page.forEach(of -> members.add(LuaScript.string(of)));
        if (page.size() < PAGE) {
          return;
        }
      }
    }

    /**
     * The rows of one table that wait of owners of a slot.
     *
     * @param members as {@link #of} names them, {@value #MOST_AT_ONCE} at most
     * @return the rows in no order, perhaps a row in two versions
     * @throws io.gameq.RedisUnavailableException when Redis does not answer
     */
    public static List<EncodedRow> rows(
        RedisConnection redis, SlotKeys slot, String table, List<String> members) {
      return LuaScript.rows(ROWS.call(redis, slot, PercentEncoding.percent(table), members));
    }
  }

  /**
   * {@code backlog.lua} and {@code publish.lua}: one look at what waits, or who runs, for all nodes
   * and writers of a namespace. Stateless.
   */
  public static final class BacklogScript {
    private static final LuaScript ASK = LuaScript.of(BacklogScript.class, "backlog.lua");
    private static final LuaScript PUBLISH = LuaScript.of(BacklogScript.class, "publish.lua");

    /** A look takes some milliseconds; when who looks dies, somebody else does so after this. */
    private static final String LOOK_MILLIS = "10000";

    /** Long enough that a pause of everybody shows as age; what nobody asks for does not stay. */
    private static final String LIFE_MILLIS = "60000";

    private BacklogScript() {}

    /**
     * What was published.
     *
     * @param ageMillis -1 when there is nothing
     * @param at names it; empty when there is nothing
     * @param text empty when there is nothing, or the caller has it
     * @param isToLook whether the caller is to look, and to {@link #publish} what it sees
     */
    public record PublishedText(long ageMillis, String at, String text, boolean isToLook) {}

    /**
     * Asks for a text of the latest look.
     *
     * @param key under which the look is published, in the namespace
     * @param text which of its texts
     * @param at of the one that the caller has, or empty
     * @param oldMillis from which age on the caller looks itself, unless somebody else does
     * @throws io.gameq.RedisUnavailableException when Redis does not answer
     */
    public static PublishedText ask(
        RedisConnection redis,
        String namespace,
        String key,
        String text,
        String at,
        long oldMillis) {
      List<Object> reply =
          ASK.call(redis, key(namespace, key), oldMillis, LOOK_MILLIS, text, at, LIFE_MILLIS);
      return new PublishedText(
          (Long) reply.get(0),
          LuaScript.string(reply.get(1)),
          new String((byte[]) reply.get(2), StandardCharsets.UTF_8),
          (Long) reply.get(3) == 1);
    }

    /**
     * Publishes texts of a look by their names; returns what names it. Throws as {@link #ask}.
     *
     * @param texts a few
     */
    public static String publish(
        RedisConnection redis, String namespace, String key, Map<String, String> texts) {
      List<byte[]> args = new ArrayList<>();
      texts.forEach((name, text) -> args.addAll(List.of(utf8(name), utf8(text))));
      return LuaScript.string(PUBLISH.call(redis, key(namespace, key), LIFE_MILLIS, args).get(0));
    }

    private static byte[] key(String namespace, String key) {
      return SlotKeys.bytes(namespace + ":" + key);
    }
  }
}

package io.gameq.redis.script;

import io.gameq.owner.DurableSessions.OwnerId;
import io.gameq.owner.DurableSessions.PercentEncoding;
import io.gameq.owner.DurableSessions.SessionId;
import io.gameq.redis.ControlConnection.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.rows.HandledRow.EncodedRow;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Who waits in a slot, page by page, so that Redis goes on meanwhile; {@code rows.lua}: the rows of
 * one table that wait; {@code unwritten.lua}: who has rows of before a time. Stateless.
 */
public final class WaitingOwners {
  /** Owners that a script may be asked for: Redis does nothing else meanwhile. */
  public static final int MOST_AT_ONCE = 100;

  private static final LuaScript UNWRITTEN =
      LuaScript.of(WaitingOwners.class, "claims.lua", "unwritten.lua");
  private static final LuaScript ROWS = LuaScript.of(WaitingOwners.class, "rows.lua");
  private static final int PAGE = 500;
  private static final ScanArgs SCAN = ScanArgs.Builder.limit(PAGE);

  private WaitingOwners() {}

  /**
   * All of a slot who wait, due, next or claimed: {@code owner:session}, of claimed ones {@code
   * owner:}. Claimed ones are looked for first and last: whoever is given back or claimed meanwhile
   * is found at one of the places.
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

  /** Some of them, as {@link #of} names them: those who are first, at most a hundred. */
  public static List<String> some(RedisConnection redis, SlotKeys slot) {
    long last = MOST_AT_ONCE / 4 - 1;
    return RedisReply.await(
        () -> {
          Set<String> some = new LinkedHashSet<>();
          redis.sync().zrange(slot.lease(), 0, last).forEach(of -> some.add(claimed(of)));
          redis.sync().lrange(slot.ready(), 0, last).forEach(of -> some.add(LuaScript.string(of)));
          redis.sync().zrange(slot.due(), 0, last).forEach(of -> some.add(LuaScript.string(of)));
          return List.copyOf(some);
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
    return OpenScript.rows(ROWS.call(redis, slot, PercentEncoding.percent(table), members));
  }

  /**
   * An owner with rows of before a time that are not in MySQL yet. Immutable.
   *
   * @param dirty rows that no writer has, as far as they were counted
   * @param claimed rows that a writer has, as far as they were counted
   * @param attempts how often these were claimed and not written, not counting outages
   * @param refusedForMillis how long ago MySQL first refused one of them; 0 if it never did
   * @param tables of the rows that were counted
   */
  public record Unwritten(
      OwnerId owner,
      long dirty,
      long claimed,
      long attempts,
      long refusedForMillis,
      Set<String> tables) {
    public Unwritten {
      tables = Set.copyOf(tables);
    }

    public long rows() {
      return dirty + claimed;
    }
  }

  /**
   * Which owners of one slot have such rows.
   *
   * @param newest the highest version that counts
   * @param mostRows of each owner that are counted
   * @param members as {@link #of} names them, {@value #MOST_AT_ONCE} at most
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static List<Unwritten> unwritten(
      RedisConnection redis, SlotKeys slot, long newest, int mostRows, List<String> members) {
    return UNWRITTEN.call(redis, slot, LuaScript.version(newest), mostRows, members).stream()
        .map(of -> unwritten((List<?>) of, members))
        .toList();
  }

  private static Unwritten unwritten(List<?> reply, List<String> members) {
    String member = members.get(Math.toIntExact((Long) reply.get(0)));
    return new Unwritten(
        OwnerId.ofEncoded(member.substring(0, member.lastIndexOf(':'))),
        (Long) reply.get(1),
        (Long) reply.get(2),
        (Long) reply.get(3),
        (Long) reply.get(4),
        ((List<?>) reply.get(5))
            .stream()
                .map(name -> PercentEncoding.unpercent(LuaScript.string(name)))
                .collect(Collectors.toSet()));
  }

  /**
   * {@code open.lua}: makes a session the owner's, adopts, and returns what is unflushed.
   * Stateless.
   */
  public static final class OpenScript {
    public static final LuaScript SCRIPT = LuaScript.of(OpenScript.class, "inbox.lua", "open.lua");

    private OpenScript() {}

    /** What open.lua answered. */
    public sealed interface Outcome {}

    /**
     * The session owns.
     *
     * @param dirty rows now under this session, adopted from the one before
     * @param claimed rows that a writer is flushing
     * @param sent rows that others sent to the owner, and that are not flushed
     */
    public record Opened(List<EncodedRow> dirty, List<EncodedRow> claimed, List<EncodedRow> sent)
        implements Outcome {}

    /** A newer session owns; nothing was changed. */
    public record Refused(SessionId ownedBy) implements Outcome {}

    /**
     * Opens the owner, or finishes the open of a node that is gone, or late.
     *
     * @param mergeWindowMillis until what is dirty is due
     * @param isMoreToCome whether what the session has adopted before, and Redis may have lost
     *     since, counts as still to come, until {@link OwnKey#healed} says that it was put back
     */
    public static Outcome call(
        RedisConnection redis,
        SlotKeys slot,
        OwnerId owner,
        SessionId session,
        long mergeWindowMillis,
        boolean isMoreToCome) {
      List<Object> reply =
          SCRIPT.call(redis, slot, owner, session, mergeWindowMillis, isMoreToCome);
      if ((Long) reply.get(0) == 0) {
        return new Refused(SessionId.parse(LuaScript.string(reply.get(1))));
      }
      return new Opened(rows(reply.get(1)), rows(reply.get(2)), rows(reply.get(3)));
    }

    /** Rows from a flat list of field, value, field, value ... */
    public static List<EncodedRow> rows(Object flat) {
      List<?> list = (List<?>) flat;
      List<EncodedRow> rows = new ArrayList<>(list.size() / 2);
      for (int i = 0; i < list.size(); i += 2) {
        rows.add(new EncodedRow(LuaScript.string(list.get(i)), (byte[]) list.get(i + 1)));
      }
      return rows;
    }
  }
}

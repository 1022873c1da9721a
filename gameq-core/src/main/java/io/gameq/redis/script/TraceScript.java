package io.gameq.redis.script;

import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.OwnerInRedis.ClaimRecord;
import io.gameq.redis.script.OwnerInRedis.InSession;
import io.gameq.redis.script.OwnerInRedis.TracedRows;
import io.gameq.rows.RowHeader;
import io.gameq.rows.RowKey;
import io.lettuce.core.KeyValue;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@code trace.lua}: where one owner is on his way, and, page by page, what his rows come to. In
 * large hashes rows may come and go meanwhile. Stateless.
 */
public final class TraceScript {
  private static final LuaScript SCRIPT = LuaScript.of(TraceScript.class, "trace.lua");

  /** Entries that Redis reads at a time, so that nobody waits for a large key. */
  private static final int PAGE = 500;

  /** More than a claim leaves for the next one: its most owners. */
  private static final String MOST_READY = "10000";

  /** An owner has a few; each costs the script four commands. */
  private static final int MOST_SESSIONS = 100;

  /** One for each node that sends to the owner. */
  private static final int MOST_INBOXES = 100;

  /** What the sums are made of: more than nodes let an owner have. */
  private static final long MOST_ROWS = 100_000;

  private TraceScript() {}

  /**
   * Looks at an owner, and at what was sent to it.
   *
   * @param known sessions to look at besides those that Redis tells of
   * @throws RedisUnavailableException when Redis does not answer
   * @throws GameQueueException when Redis refuses, as a replica does
   */
  public static OwnerInRedis call(
      RedisConnection redis, SlotKeys slot, OwnerId owner, Collection<SessionId> known) {
    Map<OwnerId, OwnerInRedis> inboxes = new LinkedHashMap<>();
    List<OwnerId> names = ask(() -> InboxNames.of(redis, slot, owner));
    if (names != null) {
      names.stream()
          .limit(MOST_INBOXES)
          .forEach(
              inbox -> {
                SessionId session = SessionId.ofInbox(inbox.sender());
                inboxes.put(inbox, look(redis, slot, inbox, List.of(session), Map.of()));
              });
    }
    return look(redis, slot, owner, sessions(redis, slot, owner, known), inboxes);
  }

  private static OwnerInRedis look(
      RedisConnection redis,
      SlotKeys slot,
      OwnerId owner,
      List<SessionId> sessions,
      Map<OwnerId, OwnerInRedis> inboxes) {
    List<String> args = new ArrayList<>(List.of(owner.encoded(), MOST_READY));
    sessions.forEach(of -> args.add(of.text()));
    List<Object> reply = SCRIPT.call(redis, slot, args);
    List<InSession> all = new ArrayList<>();
    for (int i = 0; i < sessions.size(); i++) {
      List<?> of = (List<?>) ((List<?>) reply.get(8)).get(i);
      SessionId session = sessions.get(i);
      all.add(
          new InSession(
              session,
              (Long) of.get(0) < 0 ? null : sums(redis, slot.dirty(owner, session)),
              score(of.get(1)),
              (Long) of.get(2) == 1,
              (Long) of.get(3) == 1));
    }
    return new OwnerInRedis(
        (Long) reply.get(0),
        session(LuaScript.string(reply.get(1))),
        (Long) reply.get(2),
        (Long) reply.get(3) == 1,
        (Long) reply.get(4) == 1,
        ClaimRecord.parse(LuaScript.string(reply.get(5))),
        score(reply.get(6)),
        (Long) reply.get(7) < 0 ? null : sums(redis, slot.claimed(owner)),
        all,
        ((List<?>) reply.get(9)).stream().map(LuaScript::string).toList(),
        inboxes);
  }

  private static @Nullable SessionId session(String text) {
    try {
      return text.isEmpty() ? null : SessionId.parse(text);
    } catch (GameQueueException e) { // somebody else's text
      return null;
    }
  }

  private static long score(Object reply) {
    String text = LuaScript.string(reply);
    return text.isEmpty() ? OwnerInRedis.NONE : (long) Double.parseDouble(text);
  }

  /** Those that are given, that own, that have claimed, that are due and that are stale. */
  private static List<SessionId> sessions(
      RedisConnection redis, SlotKeys slot, OwnerId owner, Collection<SessionId> known) {
    Set<String> texts = new TreeSet<>();
    known.forEach(of -> texts.add(of.text()));
    byte[] own = ask(() -> redis.sync().get(slot.own(owner)));
    byte[] claim = ask(() -> redis.sync().hget(slot.claim(), SlotKeys.bytes(owner.encoded())));
    if (own != null) {
      texts.add(LuaScript.string(own));
    }
    ClaimRecord record = claim == null ? null : ClaimRecord.parse(LuaScript.string(claim));
    if (record != null) {
      texts.add(record.session().text());
    }
    ScanArgs due = page().match(SlotKeys.bytes(owner.encoded() + ":*"));
    ask(
        () -> {
          ScanIterator.zscan(redis.sync(), slot.due(), due)
              .forEachRemaining(of -> texts.add(afterLastColon(of.getValue())));
          return null;
        });
    ScanArgs stale = page().match(slot.dirtyOfAll(owner));
    ask(
        () -> {
          ScanIterator.sscan(redis.sync(), slot.stale(), stale)
              .forEachRemaining(of -> texts.add(afterLastColon(of)));
          return null;
        });
    return texts.stream()
        .map(TraceScript::session)
        .filter(Objects::nonNull)
        .sorted(Comparator.comparing(SessionId::text))
        .limit(MOST_SESSIONS)
        .toList();
  }

  /** Null where somebody else's value is: the script says so. */
  private static <T> @Nullable T ask(Supplier<@Nullable T> question) {
    try {
      return RedisReply.<@Nullable T>await(question);
    } catch (RedisUnavailableException e) {
      throw e;
    } catch (GameQueueException e) {
      return null;
    }
  }

  private static String afterLastColon(byte[] text) {
    String of = LuaScript.string(text);
    return of.substring(of.lastIndexOf(':') + 1);
  }

  private static ScanArgs page() {
    return ScanArgs.Builder.limit(PAGE);
  }

  private static @Nullable TracedRows sums(RedisConnection redis, byte[] key) {
    Sums sums = new Sums();
    ask(
        () -> {
          ScanIterator<KeyValue<byte[], byte[]>> rows =
              ScanIterator.hscan(redis.sync(), key, page());
          while (rows.hasNext() && sums.rows < MOST_ROWS) {
            KeyValue<byte[], byte[]> row = rows.next();
            sums.add(LuaScript.string(row.getKey()), row.getValue());
          }
          sums.isCut = rows.hasNext();
          return null;
        });
    return sums.rows == 0 ? null : sums.get();
  }

  /** Of one hash. SCAN may tell of a row twice. */
  private static final class Sums {
    private final Set<String> seen = new HashSet<>();
    private final Map<String, Long> tables = new HashMap<>();
    private long rows;
    private long bytes;
    private long oldest;
    private long newest;
    private boolean isCut;

    void add(String key, byte[] image) {
      if (!seen.add(key)) {
        return;
      }
      rows++;
      bytes += key.length() + image.length;
      tables.merge(table(key), 1L, Long::sum);
      try {
        long version = RowHeader.version(image);
        oldest = oldest == 0 ? version : Math.min(oldest, version);
        newest = Math.max(newest, version);
      } catch (GameQueueException e) { // damaged: it is set aside when it is flushed
        return;
      }
    }

    private static String table(String key) {
      try {
        return RowKey.tableName(key);
      } catch (GameQueueException e) {
        return "?";
      }
    }

    TracedRows get() {
      return new TracedRows(rows, bytes, oldest, newest, tables, isCut);
    }
  }
}

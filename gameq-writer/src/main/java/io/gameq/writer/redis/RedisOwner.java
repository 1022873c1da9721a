package io.gameq.writer.redis;

import static io.gameq.redis.script.LuaScript.unlessForeign;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import io.gameq.GameQueueException;
import io.gameq.RedisUnavailableException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.LuaScript;
import io.gameq.rows.EncodedRow.RowKey;
import io.gameq.rows.RowHeader;
import io.lettuce.core.KeyValue;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The state of one owner in Redis, read by {@code trace.lua}, and the size of its rows, read page
 * by page: rows of large hashes may come and go meanwhile. Immutable.
 *
 * @param nowMillis Redis TIME when it was read, ms since 1970
 * @param ownedBy the session that may write as far as Redis knows
 * @param expiresMillis ms until Redis forgets that session, which was closed; -1 never
 * @param closing closed while rows waited
 * @param healing rows may be missing until its node has put them back
 * @param claim the writer that has, or last had, the claim
 * @param leaseEndsMillis by Redis TIME; {@link #NONE} when there is no lease
 * @param claimed the rows of the claim; null when there are none
 * @param sessions those that have dirty rows, and other known ones; the oldest first
 * @param foreign keys that hold somebody else's values
 * @param inboxes in which rows wait that were sent to the owner
 */
public record RedisOwner(
    long nowMillis,
    @Nullable SessionId ownedBy,
    long expiresMillis,
    boolean closing,
    boolean healing,
    @Nullable ClaimRecord claim,
    long leaseEndsMillis,
    @Nullable TracedRows claimed,
    List<SessionRows> sessions,
    List<String> foreign,
    Map<OwnerId, RedisOwner> inboxes) {
  private static final LuaScript SCRIPT = LuaScript.of(RedisOwner.class, "trace.lua");

  /** Entries that Redis reads at a time, so that a large key blocks nobody. */
  private static final int PAGE = 500;

  /** More than the owners that a claim can leave for the next one. */
  private static final int MOST_READY = 10_000;

  /** An owner has a few; each costs the script four commands. */
  private static final int MOST_SESSIONS = 100;

  /** One for each node that sends to the owner. */
  private static final int MOST_INBOXES = 100;

  /** Rows that the sums cover: nodes let no owner have more. */
  private static final long MOST_ROWS = 100_000;

  /** No time. An urgent owner is due at 0, or before. */
  public static final long NONE = Long.MIN_VALUE;

  /**
   * The writer that claimed an owner.
   *
   * @param token {@code -} when nobody has a claim now: the rest then describes earlier claims
   * @param attempts claims since the last ack, without those of outages
   * @param lapses how many of these lost their lease
   * @param refusedSinceMillis when MySQL first refused a row, ms since 1970; 0 if it never did
   */
  public record ClaimRecord(
      String token,
      SessionId session,
      int attempts,
      int lapses,
      long refusedSinceMillis,
      String writer) {
    /** Reads {@code token session attempts lapses since writer}; null when it is damaged. */
    static @Nullable ClaimRecord parse(@Nullable Object reply) {
      String[] of = reply == null ? new String[0] : LuaScript.string(reply).split(" ", -1);
      try {
        return of.length != 6
            ? null
            : new ClaimRecord(
                of[0],
                SessionId.parse(of[1]),
                Integer.parseInt(of[2]),
                Integer.parseInt(of[3]),
                Long.parseLong(of[4]),
                of[5]);
      } catch (RuntimeException e) {
        return null;
      }
    }

    /** Whether somebody has claimed now. */
    public boolean isHeld() {
      return !token.equals("-");
    }
  }

  /**
   * What waits under one session.
   *
   * @param dirty null when nothing does
   * @param dueMillis by Redis TIME; {@link #NONE} when it has no time
   * @param ready among those that are claimed next
   * @param stale among those that lost ownership
   */
  public record SessionRows(
      SessionId session, @Nullable TracedRows dirty, long dueMillis, boolean ready, boolean stale) {
    /** Whether it will be looked at by a claim. */
    public boolean isAwaited() {
      return dueMillis != NONE || ready;
    }
  }

  /**
   * Rows of one hash.
   *
   * @param bytes of keys and images
   * @param oldestVersion 0 when none could be read
   * @param tables how many of each; those with damaged keys under {@code ?}
   * @param isCut whether there are more rows than were looked at
   */
  public record TracedRows(
      long rows,
      long bytes,
      @JsonSerialize(using = ToStringSerializer.class) long oldestVersion,
      @JsonSerialize(using = ToStringSerializer.class) long newestVersion,
      Map<String, Long> tables,
      @JsonIgnore boolean isCut) {}

  /** Whether a writer has claimed the owner now. */
  public boolean isClaimed() {
    return claim != null && claim.isHeld();
  }

  /** What waits under the session that owns, if anything is known of it. */
  public Optional<SessionRows> owned() {
    return sessions.stream().filter(of -> of.session().equals(ownedBy)).findFirst();
  }

  /** This, and each of the inboxes. */
  public Stream<RedisOwner> withInboxes() {
    return Stream.concat(Stream.of(this), inboxes.values().stream());
  }

  /**
   * Rows that are to be flushed, or may be under way: those that are sent count, stale ones not.
   */
  public long unflushed() {
    return withInboxes()
        .flatMap(
            of ->
                Stream.concat(
                    Stream.ofNullable(of.claimed),
                    of.sessions.stream()
                        .filter(its -> !its.stale)
                        .flatMap(its -> Stream.ofNullable(its.dirty))))
        .mapToLong(TracedRows::rows)
        .sum();
  }

  /** Whether Redis knows anything of the owner. */
  public boolean isKnown() {
    return ownedBy != null
        || claim != null
        || claimed != null
        || leaseEndsMillis != NONE
        || closing
        || healing
        || !foreign.isEmpty()
        || !inboxes.isEmpty()
        || sessions.stream().anyMatch(of -> of.dirty() != null || of.isAwaited() || of.stale());
  }

  /**
   * Looks at an owner, and at what was sent to it.
   *
   * @param known sessions to look at besides those that Redis tells of
   * @throws RedisUnavailableException when Redis does not answer
   * @throws GameQueueException when Redis refuses, as a replica does
   */
  public static RedisOwner look(
      RedisConnection redis, SlotKeys slot, OwnerId owner, Collection<SessionId> known) {
    Map<OwnerId, RedisOwner> inboxes = new LinkedHashMap<>();
    List<OwnerId> names = unlessForeign(() -> inboxes(redis, slot, owner));
    for (OwnerId inbox : names == null ? List.<OwnerId>of() : names) {
      if (inboxes.size() < MOST_INBOXES) {
        SessionId session = SessionId.ofInbox(inbox.sender());
        inboxes.put(inbox, lookAt(redis, slot, inbox, List.of(session), Map.of()));
      }
    }
    return lookAt(redis, slot, owner, sessions(redis, slot, owner, known), inboxes);
  }

  /**
   * The names of all of an owner's inboxes, one for each node that sent something.
   *
   * @throws GameQueueException when Redis does not answer, or holds somebody else's value
   */
  public static List<OwnerId> inboxes(RedisConnection redis, SlotKeys slot, OwnerId owner) {
    return RedisReply.await(() -> redis.sync().hkeys(slot.inboxes(owner))).stream()
        .map(LuaScript::string)
        .sorted()
        .map(OwnerId::ofEncoded)
        .filter(OwnerId::isInbox)
        .toList();
  }

  /**
   * The names of the keys that are the owner's alone, as far as Redis tells of them.
   *
   * @throws RedisUnavailableException when Redis does not answer
   */
  public static List<String> keys(RedisConnection redis, SlotKeys slot, OwnerId owner) {
    RedisOwner all = look(redis, slot, owner, List.of());
    List<byte[]> keys = new ArrayList<>(List.of(slot.own(owner), slot.inboxes(owner)));
    all.addKeys(keys, slot, owner);
    all.inboxes.forEach((inbox, its) -> its.addKeys(keys, slot, inbox));
    return keys.stream()
        .filter(key -> RedisReply.await(() -> redis.sync().exists(key)) > 0)
        .map(LuaScript::string)
        .toList();
  }

  private void addKeys(List<byte[]> to, SlotKeys slot, OwnerId owner) {
    to.add(slot.claimed(owner));
    sessions.forEach(of -> to.add(slot.dirty(owner, of.session)));
  }

  private static RedisOwner lookAt(
      RedisConnection redis,
      SlotKeys slot,
      OwnerId owner,
      List<SessionId> sessions,
      Map<OwnerId, RedisOwner> inboxes) {
    List<Object> reply = SCRIPT.call(redis, slot, owner, MOST_READY, sessions);
    List<SessionRows> all = new ArrayList<>();
    for (int i = 0; i < sessions.size(); i++) {
      List<?> of = (List<?>) ((List<?>) reply.get(8)).get(i);
      SessionId session = sessions.get(i);
      all.add(
          new SessionRows(
              session,
              (Long) of.get(0) < 0 ? null : sums(redis, slot.dirty(owner, session)),
              score(of.get(1)),
              (Long) of.get(2) == 1,
              (Long) of.get(3) == 1));
    }
    return new RedisOwner(
        (Long) reply.get(0),
        session(LuaScript.string(reply.get(1))),
        (Long) reply.get(2),
        (Long) reply.get(3) == 1,
        (Long) reply.get(4) == 1,
        ClaimRecord.parse(reply.get(5)),
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
    return text.isEmpty() ? NONE : (long) Double.parseDouble(text);
  }

  /** Those that are given, that own, that have claimed, that are due and that are stale. */
  private static List<SessionId> sessions(
      RedisConnection redis, SlotKeys slot, OwnerId owner, Collection<SessionId> known) {
    RedisCommands<byte[], byte[]> on = redis.sync();
    byte[] name = SlotKeys.bytes(owner.encoded());
    Set<String> texts = new TreeSet<>();
    known.forEach(of -> texts.add(of.text()));
    byte[] own = unlessForeign(() -> on.get(slot.own(owner)));
    texts.add(own == null ? "" : LuaScript.string(own));
    ClaimRecord claim = ClaimRecord.parse(unlessForeign(() -> on.hget(slot.claim(), name)));
    texts.add(claim == null ? "" : claim.session().text());
    ScanArgs due = ScanArgs.Builder.limit(PAGE).match(SlotKeys.bytes(owner.encoded() + ":*"));
    ScanArgs stale = ScanArgs.Builder.limit(PAGE).match(slot.dirtyOfAll(owner));
    addEnds(
        texts, () -> ScanIterator.zscan(on, slot.due(), due).stream().map(ScoredValue::getValue));
    addEnds(texts, () -> ScanIterator.sscan(on, slot.stale(), stale).stream());
    return texts.stream()
        .map(RedisOwner::session)
        .filter(Objects::nonNull)
        .sorted(Comparator.comparing(SessionId::text))
        .limit(MOST_SESSIONS)
        .toList();
  }

  /** What comes after the last colon of each. */
  private static void addEnds(Set<String> to, Supplier<Stream<byte[]>> names) {
    unlessForeign(
        () -> {
          names
              .get()
              .map(LuaScript::string)
              .forEach(of -> to.add(of.substring(of.lastIndexOf(':') + 1)));
          return null;
        });
  }

  private static @Nullable TracedRows sums(RedisConnection redis, byte[] key) {
    return unlessForeign(
        () -> {
          Set<String> seen = new HashSet<>(); // SCAN may tell of a row twice
          Map<String, Long> tables = new HashMap<>();
          long bytes = 0;
          long oldest = 0;
          long newest = 0;
          ScanIterator<KeyValue<byte[], byte[]>> rows =
              ScanIterator.hscan(redis.sync(), key, ScanArgs.Builder.limit(PAGE));
          while (rows.hasNext() && seen.size() < MOST_ROWS) {
            KeyValue<byte[], byte[]> row = rows.next();
            String name = LuaScript.string(row.getKey());
            if (seen.add(name)) {
              bytes += name.length() + row.getValue().length;
              tables.merge(table(name), 1L, Long::sum);
              try {
                long version = RowHeader.version(row.getValue());
                oldest = oldest == 0 ? version : Math.min(oldest, version);
                newest = Math.max(newest, version);
              } catch (GameQueueException e) {
                // damaged: it is set aside when it is flushed
              }
            }
          }
          return seen.isEmpty()
              ? null
              : new TracedRows(seen.size(), bytes, oldest, newest, tables, rows.hasNext());
        });
  }

  private static String table(String key) {
    try {
      return RowKey.tableName(key);
    } catch (GameQueueException e) {
      return "?";
    }
  }
}

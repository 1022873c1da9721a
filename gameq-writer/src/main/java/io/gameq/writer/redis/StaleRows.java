package io.gameq.writer.redis;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.redis.script.ClaimScript.VersionedKey;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.NodeSigns;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.HandledRow;
import io.lettuce.core.MapScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.ValueScanCursor;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Rows that sessions committed and lost with their owners: {@code park.lua} parks those that
 * writers find, {@code stale.lua} tells what they come to, {@code discard.lua} removes them.
 * Thread-safe.
 */
public final class StaleRows {
  private static final LuaScript HANDLED = LuaScript.of(StaleRows.class, "handled.lua");
  private static final LuaScript PARK = LuaScript.of(StaleRows.class, "park.lua");
  private static final LuaScript DISCARD = LuaScript.of(StaleRows.class, "discard.lua");

  private static final LuaScript STALE = LuaScript.of(StaleRows.class, "stale.lua");

  /** Names that Redis scans in one call: about a millisecond. */
  private static final int NAMES = 2_000;

  /** Rows that Redis reads in one call: each has up to 2 MiB. */
  private static final int ROWS = 16;

  /** Rows of a page, and bytes of their images. */
  private static final int PAGE_ROWS = 1_000;

  private static final long PAGE_BYTES = 8L << 20;

  /** Of each session in a list, which are enough for an estimate; sessions of a call, its bytes. */
  private static final int READ_ROWS = 32;

  private static final int READ_SESSIONS = 50;

  private static final long READ_BYTES = 1L << 20;

  private final ControlConnection redis;
  private final Slots slots;

  /**
   * A session with parked rows.
   *
   * @param ownsNow whether Redis has it as the owner's session after all: its rows will be flushed
   */
  public record StaleSession(OwnerId owner, SessionId session, boolean ownsNow) {}

  public StaleRows(ControlConnection redis, Slots slots) {
    this.redis = redis;
    this.slots = slots;
  }

  /**
   * A session in a list, with the size of its rows.
   *
   * @param bytes of keys and images
   * @param newestVersion of its rows; 0 when there is none
   * @param isAbout whether it has so many rows that bytes and version are of some of them, the
   *     bytes scaled up
   */
  public record SessionSummary(
      StaleSession session, long rows, long bytes, long newestVersion, boolean isAbout) {}

  /**
   * Some sessions.
   *
   * @param count how many there are in all, as Redis keeps it
   * @param next continues where this page ends; empty after the last
   */
  public record SessionPage(List<SessionSummary> sessions, long count, String next) {}

  /**
   * Returns some sessions with parked rows, slot by slot. A page costs the same however many there
   * are. Each session is on one page, or on two while Redis resizes their set.
   *
   * @param after {@code next} of the page before; empty for the first
   * @param most sessions of the page, at least 1; some more where Redis keeps a small set together
   * @throws io.gameq.GameQueueException when {@code after} is nothing that a page gave; or Redis is
   *     away, or not one that gameq runs on
   */
  public SessionPage page(String after, int most) {
    if (!after.matches("(\\d{1,4}/\\d{1,20})?")) {
      throw new GameQueueException(
          "a page begins where the page before it says that it ends, not at '" + after + "'");
    }
    long[] counts = counts();
    int slot = after.isEmpty() ? 0 : Integer.parseInt(after.substring(0, after.indexOf('/')));
    String cursor = after.substring(after.indexOf('/') + 1);
    List<SessionSummary> page = new ArrayList<>();
    while (slot < counts.length && page.size() < most) {
      boolean isAtEnd = true;
      if (counts[slot] > 0) {
        SlotKeys in = slots.get(slot);
        ScanCursor from = cursor.isEmpty() ? ScanCursor.INITIAL : ScanCursor.of(cursor);
        ScanArgs args = ScanArgs.Builder.limit(Math.min(NAMES, most - page.size()));
        ValueScanCursor<byte[]> found = ask(on -> on.sscan(in.stale(), from, args));
        page.addAll(listed(in, found.getValues().stream().map(in::ofDirty).distinct().toList()));
        isAtEnd = found.isFinished();
        cursor = found.getCursor();
      }
      cursor = isAtEnd ? "" : cursor;
      slot += isAtEnd ? 1 : 0;
    }
    String next = slot == counts.length ? "" : slot + "/" + (cursor.isEmpty() ? "0" : cursor);
    return new SessionPage(page, LongStream.of(counts).sum(), next);
  }

  /** How many sessions each slot has, by one pipeline. */
  private long[] counts() {
    return redis.call(
        connection -> {
          List<CompletionStage<Long>> sent = new ArrayList<>();
          for (SlotKeys slot : slots.all()) {
            sent.add(connection.async().scard(slot.stale()));
          }
          return sent.stream().mapToLong(of -> RedisReply.await(of)).toArray();
        });
  }

  private List<SessionSummary> listed(SlotKeys slot, List<SlotKeys.DirtyOf> sessions) {
    List<SessionSummary> listed = new ArrayList<>();
    for (List<SlotKeys.DirtyOf> some : LuaScript.pieces(sessions, READ_SESSIONS)) {
      List<Object> names = new ArrayList<>();
      some.forEach(of -> names.addAll(List.of(of.owner(), of.session())));
      List<Object> replies = redis.call(on -> STALE.call(on, slot, READ_ROWS, READ_BYTES, names));
      for (int i = 0; i < replies.size(); i++) {
        List<?> reply = (List<?>) replies.get(i);
        long rows = (Long) reply.get(1);
        long read = (Long) reply.get(2);
        long bytes = (Long) reply.get(3);
        String version = LuaScript.string(reply.get(4)); // in hex, but for a damaged row
        SlotKeys.DirtyOf of = some.get(i);
        listed.add(
            new SessionSummary(
                new StaleSession(of.owner(), of.session(), (Long) reply.get(0) == 1),
                rows,
                read == 0 ? 0 : bytes * Math.max(read, rows) / read,
                version.matches("[0-9a-f]{16}") ? Long.parseUnsignedLong(version, 16) : 0,
                read < rows));
      }
    }
    return listed;
  }

  /** Those of one owner, by age. */
  public List<StaleSession> sessions(OwnerId owner) {
    SlotKeys slot = slots.of(owner);
    ScanArgs args = ScanArgs.Builder.limit(NAMES).match(slot.dirtyOfAll(owner));
    return ask(
        on -> {
          Map<SlotKeys.DirtyOf, StaleSession> found = new LinkedHashMap<>(); // SCAN repeats
          ScanIterator.sscan(on, slot.stale(), args)
              .forEachRemaining(
                  key -> {
                    SlotKeys.DirtyOf of = slot.ofDirty(key);
                    boolean ownsNow = ownsNow(on, slot, of.owner(), of.session());
                    found.put(of, new StaleSession(of.owner(), of.session(), ownsNow));
                  });
          return found.values().stream()
              .sorted(Comparator.comparing(of -> of.session().text()))
              .toList();
        });
  }

  /** A session; null when it has no parked rows. */
  public @Nullable StaleSession find(OwnerId owner, SessionId session) {
    SlotKeys slot = slots.of(owner);
    boolean isThere = ask(on -> on.sismember(slot.stale(), slot.dirty(owner, session)));
    return isThere
        ? new StaleSession(owner, session, ask(on -> ownsNow(on, slot, owner, session)))
        : null;
  }

  /** Whether Redis has it as the owner's session now. */
  public boolean ownsNow(StaleSession of) {
    return ask(on -> ownsNow(on, slots.of(of.owner()), of.owner(), of.session()));
  }

  private static boolean ownsNow(
      RedisCommands<byte[], byte[]> on, SlotKeys slot, OwnerId owner, SessionId session) {
    byte[] owns = on.get(slot.own(owner));
    return owns != null && LuaScript.string(owns).equals(session.text());
  }

  private <T> T ask(Function<RedisCommands<byte[], byte[]>, T> question) {
    return redis.call(connection -> RedisReply.await(() -> question.apply(connection.sync())));
  }

  /**
   * Hands over the rows of a session page by page, unordered, until {@code page} returns false. A
   * page has about 1,000 rows or 8 MiB. A row may be on two pages.
   */
  public void rows(StaleSession of, Predicate<List<EncodedRow>> page) {
    byte[] key = slots.of(of.owner()).dirty(of.owner(), of.session());
    ScanArgs args = ScanArgs.Builder.limit(ROWS);
    Map<String, EncodedRow> rows = new LinkedHashMap<>(); // SCAN repeats
    long bytes = 0;
    ScanCursor at = ScanCursor.INITIAL;
    do {
      ScanCursor from = at;
      MapScanCursor<byte[], byte[]> found = ask(on -> on.hscan(key, from, args));
      for (Map.Entry<byte[], byte[]> field : found.getMap().entrySet()) {
        String name = LuaScript.string(field.getKey());
        rows.put(name, new EncodedRow(name, field.getValue()));
        bytes += field.getValue().length;
      }
      at = found;
      if (at.isFinished() || rows.size() >= PAGE_ROWS || bytes >= PAGE_BYTES) {
        if (!page.test(List.copyOf(rows.values()))) {
          return;
        }
        rows.clear();
        bytes = 0;
      }
    } while (!at.isFinished());
  }

  /** How many rows a session has. */
  public long count(StaleSession of) {
    return ask(on -> on.hlen(slots.of(of.owner()).dirty(of.owner(), of.session())));
  }

  /**
   * The messages that a session handled which lost its owner.
   *
   * @param mayComeBack whether the session that owns may put back what it had taken over of these
   * @param rows of {@link HandledRow}, but for those that the session that owns has
   */
  public record HandledMessages(boolean mayComeBack, List<EncodedRow> rows) {}

  /** Reads them from the rows of a session that a writer found. */
  public static HandledMessages handled(RedisConnection redis, Slots slots, SlotKeys.DirtyOf of) {
    List<Object> reply =
        HANDLED.call(
            redis, slots.of(of.owner()), of.owner(), of.session(), HandledRow.TABLE_NAME + ":");
    List<EncodedRow> rows = LuaScript.rows(reply.subList(2, reply.size()));
    boolean mayComeBack =
        !rows.isEmpty()
            && (Long) reply.get(1) == 1
            && NodeSigns.aliveNode(
                    redis,
                    slots.namespace(),
                    NodeSigns.process(SessionId.parse(LuaScript.string(reply.get(0)))))
                != null;
    return new HandledMessages(mayComeBack, rows);
  }

  /** Parks rows that a writer found; false when that was done before, or its session owns again. */
  public static boolean park(RedisConnection redis, SlotKeys slot, SlotKeys.DirtyOf of) {
    return (Long) PARK.call(redis, slot, of.owner(), of.session()).get(0) == 1;
  }

  /**
   * The result of a discard.
   *
   * @param rows that were removed
   */
  public record DiscardResult(DiscardStatus status, List<VersionedKey> rows) {}

  /** How a discard ended. */
  public enum DiscardStatus {
    /** The rows were removed. */
    REMOVED,
    /** Nothing was changed: the session owns now, and its rows will be flushed. */
    OWNER,
    /** Nothing was there: somebody else discarded it. */
    ABSENT
  }

  /** Removes the rows of a session for good, unless it owns after all. */
  public DiscardResult discard(StaleSession of) {
    List<Object> reply =
        redis.call(
            connection -> DISCARD.call(connection, slots.of(of.owner()), of.owner(), of.session()));
    long verdict = (Long) reply.get(0);
    if (verdict != 1) {
      return new DiscardResult(
          verdict == 0 ? DiscardStatus.ABSENT : DiscardStatus.OWNER, List.of());
    }
    List<VersionedKey> rows = new ArrayList<>();
    for (int i = 1; i < reply.size(); i += 2) {
      rows.add(
          new VersionedKey(
              LuaScript.string(reply.get(i)),
              Long.parseUnsignedLong(LuaScript.string(reply.get(i + 1)), 16)));
    }
    return new DiscardResult(DiscardStatus.REMOVED, rows);
  }
}

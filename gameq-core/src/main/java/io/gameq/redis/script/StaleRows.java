package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisConfig;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.Slots;
import io.gameq.rows.EncodedRow;
import io.gameq.rows.HandledRow;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Rows that sessions committed and lost with their owners: {@code park.lua} parks those that
 * writers find, {@code discard.lua} removes them. Thread-safe; has a connection of its own.
 */
public final class StaleRows implements AutoCloseable {
  private static final LuaScript HANDLED = LuaScript.of(StaleRows.class, "handled.lua");
  private static final LuaScript PARK = LuaScript.of(StaleRows.class, "park.lua");
  private static final LuaScript DISCARD = LuaScript.of(StaleRows.class, "discard.lua");

  /** Entries that Redis reads at a time, so that nobody waits for a large hash. */
  private static final ScanArgs PAGE = ScanArgs.Builder.limit(500);

  private final RedisConnector connector;
  private final ControlConnection redis;
  private final Slots slots;

  /**
   * A session with parked rows.
   *
   * @param ownsNow Redis has it as the owner's session after all: its rows will be flushed
   */
  public record Session(OwnerId owner, SessionId session, boolean ownsNow) {}

  public StaleRows(RedisConfig config, String namespace, int slots) {
    this.connector = new RedisConnector(config);
    this.redis = new ControlConnection(connector);
    this.slots = new Slots(namespace, slots);
  }

  /**
   * All sessions with parked rows, by owner and age.
   *
   * @throws io.gameq.GameQueueException when Redis is away, or not one that gameq runs on
   */
  public List<Session> sessions() {
    return sorted(Arrays.stream(slots.all()).flatMap(slot -> sessions(slot).stream()));
  }

  /** Those of one owner. */
  public List<Session> sessions(OwnerId owner) {
    return sorted(sessions(slots.of(owner)).stream().filter(of -> of.owner().equals(owner)));
  }

  /** Whether Redis has it as the owner's session, at this moment. */
  public boolean ownsNow(Session of) {
    return ask(on -> ownsNow(on, slots.of(of.owner()), of.owner(), of.session()));
  }

  private static boolean ownsNow(
      RedisCommands<byte[], byte[]> on, SlotKeys slot, OwnerId owner, SessionId session) {
    byte[] owns = on.get(slot.own(owner));
    return owns != null && LuaScript.string(owns).equals(session.text());
  }

  private static List<Session> sorted(Stream<Session> sessions) {
    return sessions
        .sorted(
            Comparator.comparing((Session of) -> of.owner().encoded())
                .thenComparing(of -> of.session().text()))
        .toList();
  }

  private List<Session> sessions(SlotKeys slot) {
    return ask(
        on -> {
          Map<SlotKeys.DirtyOf, Session> found = new LinkedHashMap<>(); // SCAN repeats
          ScanIterator.sscan(on, slot.stale(), PAGE)
              .forEachRemaining(
                  key -> {
                    SlotKeys.DirtyOf of = slot.ofDirty(key);
                    boolean ownsNow = ownsNow(on, slot, of.owner(), of.session());
                    found.put(of, new Session(of.owner(), of.session(), ownsNow));
                  });
          return List.copyOf(found.values());
        });
  }

  private <T> T ask(Function<RedisCommands<byte[], byte[]>, T> question) {
    return redis.call(connection -> RedisReply.await(() -> question.apply(connection.sync())));
  }

  /** The rows of a session, in no order. */
  public List<EncodedRow> rows(Session of) {
    byte[] key = slots.of(of.owner()).dirty(of.owner(), of.session());
    return ask(
        on -> {
          Map<String, EncodedRow> rows = new LinkedHashMap<>(); // SCAN repeats
          ScanIterator.hscan(on, key, PAGE)
              .forEachRemaining(
                  field -> {
                    String name = LuaScript.string(field.getKey());
                    rows.put(name, new EncodedRow(name, field.getValue()));
                  });
          return List.copyOf(rows.values());
        });
  }

  /**
   * What a session that lost its owner tells of messages that it handled.
   *
   * @param mayComeBack whether the session that owns may put back what it had taken over of these
   * @param rows of {@link HandledRow}, but for those that the session that owns has
   */
  public record Handled(boolean mayComeBack, List<EncodedRow> rows) {}

  /** Of the rows of a session that a writer found. */
  public static Handled handled(RedisConnection redis, Slots slots, ClaimScript.Rows of) {
    List<Object> reply =
        HANDLED.call(
            redis, slots.of(of.owner()), of.owner(), of.session(), HandledRow.TABLE_NAME + ":");
    List<EncodedRow> rows = OpenScript.rows(reply.subList(2, reply.size()));
    boolean mayComeBack =
        !rows.isEmpty()
            && (Long) reply.get(1) == 1
            && isAlive(redis, slots.namespace(), LuaScript.string(reply.get(0)));
    return new Handled(mayComeBack, rows);
  }

  private static boolean isAlive(RedisConnection redis, String namespace, String session) {
    return NodeSigns.sign(redis, namespace, NodeSigns.process(SessionId.parse(session))) != null;
  }

  /** Parks rows that a writer found; false when that was done before, or its session owns again. */
  public static boolean park(RedisConnection redis, SlotKeys slot, ClaimScript.Rows of) {
    return (Long) PARK.call(redis, slot, of.owner(), of.session()).get(0) == 1;
  }

  /** What became of a discard. */
  public sealed interface Outcome {}

  /** These rows are gone. */
  public record Discarded(List<VersionedKey> rows) implements Outcome {}

  /** Nothing was changed: the session owns now, and its rows will be flushed. */
  public record OwnsNow() implements Outcome {}

  /** Somebody else discarded it. */
  public record Gone() implements Outcome {}

  /** Removes the rows of a session for good, unless it owns after all. */
  public Outcome discard(Session of) {
    List<Object> reply =
        redis.call(
            connection -> DISCARD.call(connection, slots.of(of.owner()), of.owner(), of.session()));
    long verdict = (Long) reply.get(0);
    if (verdict != 1) {
      return verdict == 0 ? new Gone() : new OwnsNow();
    }
    List<VersionedKey> rows = new ArrayList<>();
    for (int i = 1; i < reply.size(); i += 2) {
      rows.add(
          new VersionedKey(
              LuaScript.string(reply.get(i)),
              Long.parseUnsignedLong(LuaScript.string(reply.get(i + 1)), 16)));
    }
    return new Discarded(rows);
  }

  @Override
  public void close() {
    redis.close();
    connector.close();
  }
}

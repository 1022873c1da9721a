package io.gameq.redis.script;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** {@code claim.lua}: takes a batch of due owners. Immutable. */
public final class ClaimScript {
  private static final LuaScript SCRIPT =
      LuaScript.of(ClaimScript.class, "claims.lua", "claim.lua");

  /** How long an owner whose session Redis lost waits until MySQL was asked. */
  private static final long UNOWNED_WAIT_MILLIS = 1_000;

  private final String writer;
  private final Bounds bounds;

  /**
   * What one claim takes at most; rows and bytes may be passed by the last owner, since an owner is
   * never split.
   *
   * @param leaseMillis how long the rows belong to the writer
   */
  public record Bounds(int owners, int rows, int bytes, long leaseMillis) {
    /**
     * Enough for full statements, few enough that the script holds Redis for a few milliseconds.
     */
    public static final Bounds DEFAULT = new Bounds(500, 2_000, 8 << 20, 30_000);

    public Bounds withLease(long millis) {
      return new Bounds(owners, rows, bytes, millis);
    }
  }

  /** An owner with rows of a session. */
  public record Rows(OwnerId owner, SessionId session) {}

  /**
   * What claim.lua answered.
   *
   * @param waitMillis until the next owner of the slot is due; -1 when none is
   * @param unowned rows of sessions that own as far as anybody knows, but Redis knows no owner
   * @param stale rows of sessions that lost ownership, found for the first time
   * @param broken keys that are not what gameq wrote there
   */
  public record Batch(
      long waitMillis,
      List<Claim> claims,
      List<Rows> unowned,
      List<Rows> stale,
      List<String> broken) {}

  public ClaimScript(String writer, Bounds bounds) {
    this.writer = writer;
    this.bounds = bounds;
  }

  /** Claims from one slot, at most what the bounds say. */
  public Batch call(RedisConnection redis, SlotKeys slot) {
    return batch(SCRIPT.call(redis, slot, args(bounds.owners(), bounds.rows(), false)));
  }

  /**
   * A part of the bounds for one slot.
   *
   * @param owners of the bounds' owners
   * @param rows of the bounds' rows; bytes in proportion
   */
  public record Share(SlotKeys slot, int owners, int rows) {}

  /**
   * What a share brought.
   *
   * @param error why nothing is known of it: it may have been claimed if Redis did not answer
   */
  public record Taken(@Nullable Batch batch, @Nullable GameQueueException error) {}

  /**
   * Claims from several slots in one round trip; one that fails does not disturb the others.
   *
   * @param isUrgent to take only those that are due before their time
   */
  public List<Taken> callEach(RedisConnection redis, List<Share> shares, boolean isUrgent) {
    List<LuaScript.Call> calls =
        shares.stream()
            .map(of -> new LuaScript.Call(of.slot, args(of.owners, of.rows, isUrgent)))
            .toList();
    return SCRIPT.callEach(redis, calls).stream()
        .map(
            answer ->
                answer.error() == null
                    ? new Taken(batch(answer.get()), null)
                    : new Taken(null, answer.error()))
        .toList();
  }

  private List<String> args(int owners, int rows, boolean isUrgent) {
    return List.of(
        writer,
        UUID.randomUUID().toString(),
        Long.toString(bounds.leaseMillis()),
        Integer.toString(owners),
        Integer.toString(rows),
        Long.toString((long) bounds.bytes() * rows / bounds.rows()),
        Long.toString(UNOWNED_WAIT_MILLIS),
        isUrgent ? "1" : "0");
  }

  private static Batch batch(List<Object> reply) {
    List<Claim> claims = new ArrayList<>();
    for (Object claim : (List<?>) reply.get(1)) {
      List<?> parts = (List<?>) claim;
      claims.add(
          new Claim(
              OwnerId.ofEncoded(LuaScript.string(parts.get(0))),
              SessionId.parse(LuaScript.string(parts.get(1))),
              LuaScript.string(parts.get(2)),
              ((Long) parts.get(3)).intValue(),
              ((Long) parts.get(4)).intValue(),
              (Long) parts.get(5),
              OpenScript.rows(parts.get(6))));
    }
    return new Batch(
        (Long) reply.get(0),
        claims,
        rows(reply.get(2)),
        rows(reply.get(3)),
        ((List<?>) reply.get(4)).stream().map(LuaScript::string).toList());
  }

  private static List<Rows> rows(Object entries) {
    List<Rows> rows = new ArrayList<>();
    for (Object entry : (List<?>) entries) {
      List<?> parts = (List<?>) entry;
      rows.add(
          new Rows(
              OwnerId.ofEncoded(LuaScript.string(parts.get(0))),
              SessionId.parse(LuaScript.string(parts.get(1)))));
    }
    return rows;
  }
}

package io.gameq.redis.script;

import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.SlotKeys.DirtyOf;
import io.gameq.redis.Slots;
import io.gameq.rows.EncodedRow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What a writer does with claims: {@code claim.lua} takes a batch of due owners, {@code renew.lua}
 * goes on holding them, {@code ack.lua} and {@code nack.lua} end them, {@code reap.lua} takes back
 * what others let run out. Immutable.
 */
public final class ClaimScript {
  private static final LuaScript CLAIM = LuaScript.of(ClaimScript.class, "claims.lua", "claim.lua");
  private static final LuaScript RENEW = LuaScript.of(ClaimScript.class, "claims.lua", "renew.lua");
  private static final LuaScript NACK = LuaScript.of(ClaimScript.class, "claims.lua", "nack.lua");
  private static final LuaScript REAP = LuaScript.of(ClaimScript.class, "claims.lua", "reap.lua");
  public static final LuaScript ACK =
      LuaScript.of(ClaimScript.class, "claims.lua", "inbox.lua", "ack.lua");

  /** Owners that are reaped in one call: a script holds Redis for as long as it takes. */
  public static final int MOST_REAPED = 100;

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
  }

  /**
   * What claim.lua answered.
   *
   * @param waitMillis until the next owner of the slot is due; -1 when none is
   * @param unowned rows of sessions that own as far as anybody knows, but Redis knows no owner
   * @param stale rows of sessions that lost ownership, until they are {@linkplain StaleRows#park
   *     parked}
   * @param broken keys that are not what gameq wrote there
   */
  public record Batch(
      long waitMillis,
      List<Claim> claims,
      List<DirtyOf> unowned,
      List<DirtyOf> stale,
      List<String> broken) {}

  public ClaimScript(String writer, Bounds bounds) {
    this.writer = writer;
    this.bounds = bounds;
  }

  /** Claims from one slot, at most what the bounds say. */
  public Batch call(RedisConnection redis, SlotKeys slot) {
    return batch(CLAIM.call(redis, slot, args(bounds.owners(), bounds.rows(), false)));
  }

  /**
   * A part of the bounds for one slot.
   *
   * @param owners of the bounds' owners
   * @param rows of the bounds' rows; bytes in proportion
   */
  public record Share(SlotKeys slot, int owners, int rows) {}

  /**
   * Claims from several slots in one round trip; one that fails does not disturb the others: it may
   * have been claimed from if Redis did not answer.
   *
   * @param isUrgent to take only those that are due before their time
   */
  public List<LuaScript.Answer<Batch>> callEach(
      RedisConnection redis, List<Share> shares, boolean isUrgent) {
    List<LuaScript.Call> calls =
        shares.stream()
            .map(of -> new LuaScript.Call(of.slot, args(of.owners, of.rows, isUrgent)))
            .toList();
    return CLAIM.callEach(redis, calls).stream().map(of -> of.map(ClaimScript::batch)).toList();
  }

  private List<Object> args(int owners, int rows, boolean isUrgent) {
    return List.of(
        writer,
        UUID.randomUUID(),
        bounds.leaseMillis(),
        owners,
        rows,
        (long) bounds.bytes() * rows / bounds.rows(),
        UNOWNED_WAIT_MILLIS,
        isUrgent);
  }

  private static Batch batch(List<Object> reply) {
    return new Batch(
        (Long) reply.get(0),
        all(reply.get(1), ClaimScript::claim),
        all(reply.get(2), ClaimScript::rows),
        all(reply.get(3), ClaimScript::rows),
        ((List<?>) reply.get(4)).stream().map(LuaScript::string).toList());
  }

  private static <T> List<T> all(Object entries, Function<List<?>, T> reading) {
    return ((List<?>) entries).stream().map(of -> reading.apply((List<?>) of)).toList();
  }

  private static Claim claim(List<?> parts) {
    return new Claim(
        owner(parts),
        SessionId.parse(LuaScript.string(parts.get(1))),
        LuaScript.string(parts.get(2)),
        ((Long) parts.get(3)).intValue(),
        ((Long) parts.get(4)).intValue(),
        (Long) parts.get(5),
        LuaScript.rows(parts.get(6)));
  }

  private static DirtyOf rows(List<?> parts) {
    return new DirtyOf(owner(parts), SessionId.parse(LuaScript.string(parts.get(1))));
  }

  private static OwnerId owner(List<?> parts) {
    return OwnerId.ofEncoded(LuaScript.string(parts.get(0)));
  }

  /** Moves the deadline of claims to a lease from now. Returns how many were still ours. */
  public static int renew(
      RedisConnection redis, SlotKeys slot, long leaseMillis, Collection<Claim> claims) {
    return ((Long) RENEW.call(redis, slot, leaseMillis, tokens(claims)).get(0)).intValue();
  }

  /**
   * A claim that was flushed.
   *
   * @param version up to which all of it is in MySQL, set aside, or kept
   * @param setAside rows that are dead letters now
   * @param kept rows that go back to wait
   * @param keptMillis until the owner is due again for them
   */
  public record Flushed(
      Claim claim,
      long version,
      List<VersionedKey> setAside,
      List<VersionedKey> kept,
      long keptMillis) {
    /** Where nothing is kept any will do: most have the same. */
    private long dueAgainMillis() {
      return kept.isEmpty() ? 0 : keptMillis;
    }

    private List<Object> args() {
      return List.of(
          claim.owner(), claim.token(), LuaScript.version(version), args(setAside), args(kept));
    }

    private static List<Object> args(List<VersionedKey> rows) {
      return List.of(
          rows.size(),
          rows.stream().map(of -> List.of(of.key(), LuaScript.version(of.version()))).toList());
    }
  }

  /**
   * Ends claims whose rows are in MySQL and tells their nodes, in one round trip. Returns how many
   * were still ours.
   */
  public static int ack(
      RedisConnection redis, Slots slots, String namespace, List<Flushed> flushed) {
    List<LuaScript.Call> calls = new ArrayList<>();
    slots
        .grouped(flushed, of -> of.claim().owner())
        .forEach(
            (slot, all) ->
                all.stream()
                    .collect(Collectors.groupingBy(Flushed::dueAgainMillis))
                    .forEach(
                        (millis, some) ->
                            calls.add(
                                new LuaScript.Call(
                                    slot,
                                    List.of(
                                        namespace,
                                        SessionScripts.KEPT_MILLIS,
                                        millis,
                                        some.stream().map(Flushed::args).toList())))));
    return stillOurs(ACK.callEach(redis, calls));
  }

  /**
   * Gives claims back unflushed, in one round trip. Returns how many were still ours.
   *
   * @param countsAsAttempt false for an outage, which is not the rows' fault
   */
  public static int nack(
      RedisConnection redis,
      Slots slots,
      long delayMillis,
      boolean countsAsAttempt,
      List<Claim> claims) {
    List<LuaScript.Call> calls = new ArrayList<>();
    slots
        .grouped(claims, Claim::owner)
        .forEach(
            (slot, some) ->
                calls.add(
                    new LuaScript.Call(slot, List.of(delayMillis, countsAsAttempt, tokens(some)))));
    return stillOurs(NACK.callEach(redis, calls));
  }

  private static List<?> tokens(Collection<Claim> claims) {
    return claims.stream().map(of -> List.of(of.owner(), of.token())).toList();
  }

  /** Replies have a 1 for each claim that was still ours, else a 0. */
  private static int stillOurs(List<LuaScript.Answer<List<Object>>> answers) {
    return (int)
        answers.stream().flatMap(of -> of.get().stream()).filter(r -> (Long) r == 1).count();
  }

  /**
   * A claim that its writer let run out.
   *
   * @param lapses how often that happened to the owner's rows since they were last flushed
   */
  public record ReapedClaim(OwnerId owner, String writer, int lapses) {}

  /** Takes back claims of writers that are gone or stalled, at most {@link #MOST_REAPED}. */
  public static List<ReapedClaim> reap(RedisConnection redis, SlotKeys slot) {
    return all(
        REAP.call(redis, slot, MOST_REAPED),
        of ->
            new ReapedClaim(owner(of), LuaScript.string(of.get(1)), ((Long) of.get(2)).intValue()));
  }

  /** A row, by its key {@code table:parts}, in a version. Immutable. */
  public record VersionedKey(String key, long version) {}

  /**
   * An owner's dirty rows, taken under a lease. Immutable.
   *
   * @param token proves in ack and nack that the lease did not run out
   * @param attempts how often these rows were claimed, this time included, not counting outages
   * @param lapses how often their lease ran out since they were last flushed
   * @param refusedForMillis how long ago MySQL first refused one of them since they were last
   *     flushed; 0 if it never did
   */
  public record Claim(
      OwnerId owner,
      SessionId session,
      String token,
      int attempts,
      int lapses,
      long refusedForMillis,
      List<EncodedRow> rows) {}
}

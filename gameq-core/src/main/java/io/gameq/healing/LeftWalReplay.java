package io.gameq.healing;

import io.gameq.owner.SessionRef;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.HealedScript;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import io.gameq.wal.WalReport;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Heals for a node that is gone, from the WAL that it left: what lies beyond the journal marks is
 * {@linkplain WalReplay replayed} where its session still owns, as that node would have. Stopped
 * anywhere, run twice or beside {@code gameq-recovery}, it does no harm: versions are compared row
 * by row. Used by one thread.
 */
public final class LeftWalReplay {
  private final PrimaryConnector primary;
  private final Reassertion reassertion;
  private final String namespace;
  private final SlotKeys[] slots;
  private final @Nullable Instant horizon;
  private final LostHalves halves;

  /**
   * What was done with a WAL.
   *
   * @param missing records that Redis does not hold
   * @param replayed of these
   * @param owners whose rows were not replayed, because a later session opened them meanwhile
   * @param halves trades of which one half is lost with its session and held by no other, and what
   *     the WAL cannot give back
   * @param refused why nothing was replayed; empty when it was
   */
  public record Outcome(long missing, long replayed, long owners, long halves, String refused) {
    /** Whether something is left for {@code gameq-recovery}. */
    public boolean leavesSomething() {
      return owners > 0 || halves > 0 || !refused.isEmpty();
    }

    static Outcome refused(long missing, String why) {
      return new Outcome(missing, 0, 0, 0, why);
    }
  }

  /**
   * A replay.
   *
   * @param horizon before which deletes may be forgotten; null when none is
   * @param halves of trades of which another session took one owner over
   */
  public LeftWalReplay(
      PrimaryConnector primary,
      DurableSessions durableSessions,
      String namespace,
      SlotKeys[] slots,
      @Nullable Instant horizon,
      LostHalves halves) {
    this.primary = primary;
    this.reassertion = new Reassertion(durableSessions, slots);
    this.namespace = namespace;
    this.slots = slots;
    this.horizon = horizon;
    this.halves = halves;
  }

  /**
   * Replays one WAL.
   *
   * @throws io.gameq.GameQueueException when a server goes away meanwhile, or this is no WAL; what
   *     was replayed stays, and it can be run again
   */
  public Outcome run(Path wal) {
    RedisConnection redis = primary.open().redis();
    try {
      return run(redis, wal);
    } finally {
      redis.close();
    }
  }

  private Outcome run(RedisConnection redis, Path wal) {
    String walId = String.valueOf(wal.getFileName());
    byte[] id = SlotKeys.bytes(walId);
    LeftRecords left = new LeftRecords(slots, slot -> WalReplay.mark(redis, slot, id));
    WalReport report = WalReader.read(wal, left::take);
    WalRecord.Header header = left.header();
    if (header == null || !header.namespace().equals(namespace) || header.slots() != slots.length) {
      return Outcome.refused(0, "it is not of this namespace and number of slots");
    }
    if (left.records() == 0) {
      return Outcome.refused(0, report.isWhole() ? "" : "it is damaged");
    }
    if (horizon != null && left.oldestMillis() < horizon.toEpochMilli()) {
      return Outcome.refused(
          left.records(), "deletes of its time are forgotten, so it could bring deleted rows back");
    }
    reassertion.run(redis, left.sessions().stream().map(HeldSession::ref).toList());
    List<HeldSession> held = left.sessions().stream().filter(of -> !of.ref().isLost()).toList();
    WalReplay replay =
        new WalReplay(ReplaySource.left(wal, left.carried()), walId, () -> 0, halves);
    replay.noteLost(redis, held);
    WalReplay.Result result =
        replay.run(redis, left.sessions(), of -> reassertion.run(redis, of), () -> {});
    if (report.isWhole() && result.givenUp().isEmpty()) {
      HealedScript.call(
          redis, slots, held.stream().map(HeldSession::ref).filter(ref -> !ref.isLost()).toList());
    }
    long lost = left.sessions().stream().map(HeldSession::ref).filter(SessionRef::isLost).count();
    return new Outcome(
        left.records(),
        result.sent(),
        lost,
        result.givenUp().size(),
        report.isWhole() ? "" : "it is damaged: all that can be read was looked at");
  }
}

package io.gameq.healing;

import io.gameq.owner.SessionRef;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.HealedScript;
import io.gameq.redis.script.JournalMarks;
import io.gameq.wal.LeftWals;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import io.gameq.wal.WalReport;
import java.nio.file.Path;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Heals for a node that is gone, from the WAL that it left: what lies beyond the journal marks is
 * {@linkplain HealingStep replayed} where its session still owns, as that node would have. Stopped
 * anywhere, run twice or beside {@code gameq-recovery}, it does no harm: versions are compared row
 * by row. Used by one thread.
 */
public final class LeftWalReplay {
  private final PrimaryConnector primary;
  private final DurableTruth truth;
  private final String namespace;
  private final SlotKeys[] slots;
  private final @Nullable Instant horizon;

  /**
   * What was done with a WAL.
   *
   * @param missing records of rows, and changes of messages, that Redis does not hold
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
   */
  public LeftWalReplay(
      PrimaryConnector primary,
      DurableTruth truth,
      String namespace,
      SlotKeys[] slots,
      @Nullable Instant horizon) {
    this.primary = primary;
    this.truth = truth;
    this.namespace = namespace;
    this.slots = slots;
    this.horizon = horizon;
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
    JournalMarks marks = JournalMarks.read(redis, slots, walId);
    LeftRecords left = new LeftRecords(slots, marks, LeftWals.isComplete(wal));
    LeftMessages messages = new LeftMessages(marks, sequence -> false);
    WalReport report =
        WalReader.read(
            wal,
            entry -> {
              left.take(entry);
              messages.take(entry);
            });
    WalRecord.Header header = left.header();
    if (header == null || !header.namespace().equals(namespace) || header.slots() != slots.length) {
      return Outcome.refused(0, "it is not of this namespace and number of slots");
    }
    long missing = left.records() + messages.lackingChanges();
    if (missing == 0) {
      return Outcome.refused(0, report.isWhole() ? "" : "it is damaged");
    }
    if (horizon != null && left.oldestMillis() < horizon.toEpochMilli()) {
      return Outcome.refused(
          missing, "deletes of its time are forgotten, so it could bring deleted rows back");
    }
    HeldSessions sessions = new HeldSessions(left.sessions());
    LeftWalPorts ports =
        new LeftWalPorts(
            redis,
            slots,
            truth,
            new WalFiles(WalPlaces.left(wal, left.carried()), walId),
            new LeftWalPorts.Left(sessions, messages, left.newest(), report.isWhole()));
    HealingStep.runAll(new HealingStep.ReadSessions(), ports);
    if (report.isWhole() && ports.givenUp() == 0) {
      HealedScript.call(redis, slots, sessions.owning().stream().map(HeldSession::ref).toList());
    }
    long lost = left.sessions().stream().map(HeldSession::ref).filter(SessionRef::isLost).count();
    return new Outcome(
        missing,
        ports.replayed(),
        lost,
        ports.givenUp(),
        report.isWhole() ? "" : "it is damaged: all that can be read was looked at");
  }
}

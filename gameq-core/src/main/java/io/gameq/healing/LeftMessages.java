package io.gameq.healing;

import io.gameq.change.Commit.SlotMessages;
import io.gameq.change.VersionClock;
import io.gameq.healing.LeftWalReplay.Lookups;
import io.gameq.healing.LeftWalReplay.ReplayRedis;
import io.gameq.mysql.tables.TombstoneHorizon;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.script.JournalMarks;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a WAL whose node is gone: which of them Redis lacks, and puts these back. Takes
 * as much memory as there are slots and sessions. One thread.
 */
public final class LeftMessages {
  /**
   * Older messages are not put back. A day shorter, for clocks that differ, than Redis keeps the
   * {@linkplain JournalMarks#KEPT marks} of nodes that are gone, without which all would be
   * replayed; than it remembers which messages are over ({@code DONE_MILLIS} of {@code
   * batches.lua}), without which handled ones would come back; and than MySQL remembers whose rows
   * count of them ({@link TombstoneHorizon#HANDLED_KEPT}), without which both handlers' would.
   */
  public static final Duration OLDEST = Duration.ofDays(6);

  private final Lookups lookups;
  private final WalFolder wal;
  private final JournalMarks marks;
  private final long youngFromMillis = System.currentTimeMillis() - OLDEST.toMillis();
  private final long[] newest;
  private final Map<String, Boolean> lostSessions = new HashMap<>();
  private Totals totals = Totals.NONE;

  /**
   * What WALs whose nodes are gone have of messages.
   *
   * @param changes publishes, acknowledgements and the like
   * @param lacking of these, those that Redis does not hold
   * @param tooOld those that Redis may or may not have held: they are older than it remembers, and
   *     are not put back
   */
  public record Totals(long changes, long lacking, long tooOld) {
    /** None, or not asked for. */
    public static final Totals NONE = new Totals(0, 0, 0);

    Totals plus(long moreChanges, long moreLacking, long moreTooOld) {
      return new Totals(changes + moreChanges, lacking + moreLacking, tooOld + moreTooOld);
    }
  }

  private LeftMessages(Lookups lookups, ReplayRedis redis, WalFolder wal) {
    this.lookups = lookups;
    this.wal = wal;
    this.marks = JournalMarks.read(redis.connection(), redis.slots(), wal.id());
    this.newest = new long[redis.slots().length];
  }

  /**
   * What Redis lacks; nothing is known of it without Redis.
   *
   * @param wals of the same namespace, which were read once
   * @throws io.gameq.GameQueueException when Redis does not answer
   */
  public static Totals totals(Lookups lookups, Collection<WalFolder> wals) {
    Totals all = Totals.NONE;
    ReplayRedis redis = lookups.redis();
    for (WalFolder wal : wals) {
      if (redis != null && wal.messages() > 0) {
        Totals its = new LeftMessages(lookups, redis, wal).read(null);
        all = all.plus(its.changes, its.lacking, its.tooOld);
      }
    }
    return all;
  }

  /**
   * Puts back what Redis lacks of a WAL, once its rows are where they belong; stopped anywhere or
   * run twice, it does no harm.
   *
   * @param wal was read once
   * @param areRowsBack whether nothing is left of the rows: then the journal marks are moved on
   * @return of how many commits messages were put back
   * @throws io.gameq.GameQueueException when a server does not answer, or Redis has no room: what
   *     was put back stays
   */
  public static long putBack(Lookups lookups, WalFolder wal, boolean areRowsBack) {
    ReplayRedis redis = lookups.redis();
    if (redis == null || wal.messages() == 0) {
      return 0;
    }
    LeftMessages messages = new LeftMessages(lookups, redis, wal);
    MessageReplay replay =
        new MessageReplay(
            redis.connection(), redis.slots(), messages.marks, messages::isLost, lookups.truth());
    Totals found = messages.read(replay);
    replay.finish();
    if (found.lacking > 0) {
      if (!wal.isWhole() || !areRowsBack) {
        Arrays.fill(messages.newest, -1);
      }
      JournalMarks unused =
          messages.marks.write(redis.connection(), redis.slots(), wal.id(), messages.newest);
    }
    return replay.sent();
  }

  /** Messages of records that were carried forward are older than they are kept. */
  private Totals read(@Nullable MessageReplay replay) {
    wal.read(
        entry -> {
          noteNewest(entry);
          if (!entry.isCarried()
              && entry.record() instanceof WalRecord.Committed commit
              && !commit.messages().isEmpty()
              && !wal.isFailed(entry.sequence())) {
            take(entry.sequence(), commit, replay);
          }
        });
    return totals;
  }

  private void noteNewest(WalReader.Entry entry) {
    for (WalRecord.Part part : entry.record().parts()) {
      int slot = OwnerId.ofEncoded(part.owner()).slot(newest.length);
      newest[slot] = Math.max(newest[slot], entry.sequence());
    }
    if (entry.record() instanceof WalRecord.Committed commit) {
      for (SlotMessages of : commit.messages()) {
        newest[of.slot()] = Math.max(newest[of.slot()], entry.sequence());
      }
    }
  }

  private void take(long sequence, WalRecord.Committed commit, @Nullable MessageReplay replay) {
    boolean isOld = VersionClock.millis(commit.version()) < youngFromMillis;
    for (SlotMessages of : commit.messages()) {
      int changes = of.changes().size();
      boolean lacks = marks.lacks(of.slot(), sequence);
      totals = totals.plus(changes, lacks && !isOld ? changes : 0, lacks && isOld ? changes : 0);
    }
    if (replay != null && !isOld) {
      replay.take(sequence, commit);
    }
  }

  private boolean isLost(WalRecord.Part part) {
    return lostSessions.computeIfAbsent(
        part.owner() + " " + part.session(),
        name -> {
          OwnerId owner = OwnerId.ofEncoded(part.owner());
          return !CountingSessions.counts(
              lookups.database().owners().current(List.of(owner)).get(owner),
              SessionId.parse(part.session()));
        });
  }
}

package io.gameq.healing;

import io.gameq.change.SlotMessages;
import io.gameq.change.VersionClock;
import io.gameq.mysql.tables.TombstoneHorizon;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.JournalMarks;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import io.gameq.wal.WalReport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;

/**
 * Which records of a WAL whose node is gone change messages, and which of them Redis lacks. Learned
 * by one reading; takes as much memory as there are slots, and 8 bytes for each failed commit. One
 * thread.
 */
public final class LeftMessages implements MessageRecords {
  /**
   * Older messages are not put back. A day shorter, for clocks that differ, than Redis keeps the
   * {@linkplain JournalMarks#KEPT marks} of nodes that are gone, without which all would be
   * replayed; than it remembers which messages are over ({@code DONE_MILLIS} of {@code
   * batches.lua}), without which handled ones would come back; and than MySQL remembers whose rows
   * count of them ({@link TombstoneHorizon#HANDLED_KEPT}), without which both handlers' would.
   */
  public static final Duration OLDEST = Duration.ofDays(6);

  private final JournalMarks marks;
  private final LongPredicate knownFailed;
  private final long youngFromMillis;
  private final Set<Long> failed = new HashSet<>();
  private final Set<Long> leftOut = new HashSet<>();
  private long firstYoung = Long.MAX_VALUE;
  private long last;
  private long changes;
  private long lackingChanges;
  private long tooOld;

  /**
   * Reads a WAL, and its marks in Redis.
   *
   * @param redis a connection that no other thread uses meanwhile
   * @param failed which commits are known to have failed: they are not counted
   * @throws io.gameq.GameQueueException when Redis does not answer, or this is no WAL
   */
  public static LeftMessages read(
      RedisConnection redis, SlotKeys[] slots, Wal wal, LongPredicate failed) {
    LeftMessages messages = new LeftMessages(JournalMarks.read(redis, slots, wal.id), failed);
    WalReport unused = WalReader.read(wal.directory, messages::take);
    return messages;
  }

  /** Where a WAL is, and its name, under which Redis keeps its marks. */
  public record Wal(Path directory, String id) {}

  /** Of a WAL that is still to be read. */
  LeftMessages(JournalMarks marks, LongPredicate knownFailed) {
    this.marks = marks;
    this.knownFailed = knownFailed;
    this.youngFromMillis = System.currentTimeMillis() - OLDEST.toMillis();
  }

  /** Takes the next entry of the WAL. */
  void take(WalReader.Entry entry) {
    if (entry.isCarried()) {
      return; // its messages are older than they are kept
    }
    if (entry.record() instanceof WalRecord.Failed of) {
      failed.add(of.sequence());
    } else if (entry.record() instanceof WalRecord.Committed commit
        && !commit.messages().isEmpty()
        && !knownFailed.test(entry.sequence())) {
      take(entry.sequence(), commit);
    }
  }

  private void take(long sequence, WalRecord.Committed commit) {
    boolean isOld = VersionClock.millis(commit.version()) < youngFromMillis;
    if (!isOld) {
      firstYoung = Math.min(firstYoung, sequence);
    }
    last = sequence;
    for (SlotMessages of : commit.messages()) {
      changes += of.changes().size();
      if (marks.lacks(of.slot(), sequence)) {
        lackingChanges += isOld ? 0 : of.changes().size();
        tooOld += isOld ? of.changes().size() : 0;
      }
    }
  }

  /** Changes of messages that were read. */
  public long changes() {
    return changes;
  }

  /** Of these, those that Redis lacks and that can be put back. */
  public long lackingChanges() {
    return lackingChanges;
  }

  /** Of these, those that are older than six days, which are not put back. */
  public long tooOld() {
    return tooOld;
  }

  /** By which Redis was found to lack what it lacks. */
  JournalMarks marks() {
    return marks;
  }

  @Override
  public List<Stretch> after(long sequence) {
    long from = Math.max(sequence + 1, firstYoung);
    return from <= last && lackingChanges > 0 ? List.of(new Stretch(from, last)) : List.of();
  }

  @Override
  public boolean isLeftOut(long sequence) {
    return sequence < firstYoung
        || failed.contains(sequence)
        || leftOut.contains(sequence)
        || knownFailed.test(sequence);
  }

  @Override
  public void leaveOut(Set<Long> sequences) {
    leftOut.addAll(sequences);
  }

  @Override
  public boolean mayHaveFailed(Stretch of) {
    return false; // they are left out
  }

  /** Its rows were in Redis at least, if Redis had lost nothing of them. */
  @Override
  public boolean wasLost(SessionName session) {
    return false;
  }
}

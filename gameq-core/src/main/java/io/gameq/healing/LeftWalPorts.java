package io.gameq.healing;

import io.gameq.change.Commit;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.script.JournalMarks;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What healing for a node that is gone reaches: its WAL, and no commits on their way. One thread.
 */
final class LeftWalPorts implements HealingPorts, UnansweredCommits {
  private final RedisConnection redis;
  private final SlotKeys[] slots;
  private final DurableTruth truth;
  private final ReplaySource wal;
  private final HeldSessions sessions;
  private final LeftMessages messages;
  private final Left left;
  private JournalMarks marks;
  private @Nullable RecordsToReplay owed;
  private final Set<Long> givenUp = new HashSet<>();
  private int replayed;

  LeftWalPorts(
      RedisConnection redis, SlotKeys[] slots, DurableTruth truth, ReplaySource wal, Left left) {
    this.redis = redis;
    this.slots = slots;
    this.truth = truth;
    this.wal = wal;
    this.sessions = left.sessions;
    this.messages = left.messages;
    this.left = left;
    this.marks = left.messages.marks();
  }

  /**
   * What was learned of the WAL.
   *
   * @param newest by slot, its newest sequence
   * @param isWhole whether all of it can be read, and is decided in the end
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  record Left(HeldSessions sessions, LeftMessages messages, long[] newest, boolean isWhole) {}

  /** Records that are not replayed for good. */
  int givenUp() {
    return givenUp.size();
  }

  int replayed() {
    return replayed;
  }

  @Override
  public RedisConnection redis() {
    return redis;
  }

  @Override
  public SlotKeys[] slots() {
    return slots;
  }

  @Override
  public DurableTruth truth() {
    return truth;
  }

  @Override
  public HeldSessions sessions() {
    return sessions;
  }

  @Override
  public ReplaySource wal() {
    return wal;
  }

  /** At first what Redis lost of the sessions that turned out to own: nobody commits under them. */
  @Override
  public RecordsToReplay owed() {
    if (owed == null) {
      owed = RecordsToReplay.NOTHING.plusLost(sessions.owning(), marks);
    }
    return owed;
  }

  @Override
  public void owed(RecordsToReplay now) {
    owed = now;
  }

  @Override
  public JournalMarks marks() {
    return marks;
  }

  @Override
  public void marks(JournalMarks now) {
    marks = now;
  }

  @Override
  public long[] newest() {
    return left.newest.clone();
  }

  /** All of it, what was not replayed too: that is decided, for rows and messages alike. */
  @Override
  public long[] settled() {
    long[] settled = left.newest.clone();
    if (!left.isWhole) {
      Arrays.fill(settled, -1);
    }
    return settled;
  }

  @Override
  public MessageRecords messages() {
    return messages;
  }

  @Override
  public void notReplayed(Set<Long> sequences) {
    givenUp.addAll(sequences);
  }

  @Override
  public void replayed(int records) {
    replayed += records;
  }

  @Override
  public AtOnce atOnce() {
    return AtOnce.PIPELINED;
  }

  /** At once. */
  @Override
  public long dueMillis() {
    return 0;
  }

  /** Only once it is known that nothing is left to {@code gameq-recovery}. */
  @Override
  public boolean tellsWhole() {
    return false;
  }

  @Override
  public UnansweredCommits unanswered() {
    return this;
  }

  @Override
  public @Nullable Commit first() {
    return null;
  }

  @Override
  public CommitGroup group(Commit commit) {
    throw new IllegalStateException("a WAL has no commits on their way");
  }

  @Override
  public void queued(Commit first) {}

  @Override
  public void unknown(Commit first, SessionRef lost) {}

  @Override
  public void refused(Commit first, String message) {}

  @Override
  public void refused(Commit first, CommitGroup.Unmet why) {}
}

package io.gameq.commit;

import io.gameq.GameQueueException;
import io.gameq.change.Commit;
import io.gameq.durability.NodeSessions;
import io.gameq.healing.DurableTruth;
import io.gameq.healing.HealingPorts;
import io.gameq.healing.HealingPorts.HeldSession;
import io.gameq.healing.HealingPorts.HeldSessions;
import io.gameq.healing.HealingPorts.RecordsToReplay;
import io.gameq.healing.HealingPorts.SessionName;
import io.gameq.healing.HealingStep;
import io.gameq.healing.HealingStep.NotReplayed;
import io.gameq.healing.ReplaySource;
import io.gameq.healing.ReplaySource.SequenceRange;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.redis.script.MessagesScript.Mode;
import io.gameq.wal.WalWriter;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the {@linkplain HealingStep steps of a healing} for a sender, and keeps what is to be
 * replayed until one of them comes to its end. Used by the sender's thread.
 */
final class SenderHealing {
  private static final Logger LOG = LoggerFactory.getLogger(SenderHealing.class);

  private final WalWriter written;
  private final ReplaySource wal;
  private final DurableTruth truth;
  private final SenderSessions sessions;
  private final Settlement settlement;
  private final RecentMessages recent;
  private final NodeSessions ofNode;
  private final Deque<Commit> unanswered;
  private final Deque<Commit> journaled;

  /** Whether the last healing found that Redis had lost messages. */
  boolean putMessagesBack;

  private boolean hasReadMarks;
  private int replayed;
  private int givenUp;

  /** A healing has not come to where it writes the marks. */
  private boolean isMarkOwed;

  private RecordsToReplay owed = RecordsToReplay.NOTHING;

  /** Sequences of what had no answer when the last healing began: sent again, not replayed. */
  private final Set<Long> resent = new HashSet<>();

  /** Records whose messages are not replayed until all is healed. */
  private final Set<Long> leftOut = new HashSet<>();

  /** The newest sequence that was answered when the last healing began. */
  private long newestAnswered;

  /**
   * For a sender.
   *
   * @param unanswered are sent again, oldest first; what has an answer then is removed
   * @param journaled are in the WAL and are sent later
   */
  SenderHealing(
      WalWriter wal,
      DurableTruth truth,
      SenderSessions sessions,
      Settlement settlement,
      RecentMessages recent,
      NodeSessions ofNode,
      Deque<Commit> unanswered,
      Deque<Commit> journaled) {
    this.written = wal;
    this.wal = new ReplaySource.WalFiles(wal);
    this.truth = truth;
    this.sessions = sessions;
    this.settlement = settlement;
    this.recent = recent;
    this.ofNode = ofNode;
    this.unanswered = unanswered;
    this.journaled = journaled;
  }

  /** Writes the first marks: before anything is sent. */
  void begin(RedisConnection redis) {
    SlotMarks marks = sessions.marks;
    marks.begin(written.newestSequence());
    try {
      marks.read(marks.read().write(redis, sessions.slots, wal.id(), marks.settled(Stream.of())));
    } catch (GameQueueException e) { // Redis is full: they are written by the first calls
      LOG.warn("cannot write the first journal marks: {}", e.getMessage());
    }
  }

  /**
   * Has the next healing replay everything that is not known to be in MySQL: Redis lost something,
   * and took commits since then. Noted at once: a notice about those commits says nothing of older
   * ones that are lost.
   */
  void oweAll() {
    Collection<HeldSession> all = sessions.all();
    owed = owed.plusLost(all, JournalMarks.none(sessions.slots.length));
    all.forEach(of -> of.unsettled().doubt());
  }

  /** Heals on a new connection; throws as {@link HealingStep#next}. */
  void run(RedisConnection redis) {
    resent.clear();
    unanswered.forEach(commit -> resent.add(commit.sequence()));
    newestAnswered = Arrays.stream(sessions.marks.answered()).max().orElse(0);
    List<HeldSession> all = List.copyOf(sessions.all());
    long held = owning(all);
    replayed = 0;
    givenUp = 0;
    putMessagesBack = false;
    isMarkOwed = true;
    HealingStep.runAll(new HealingStep.NoteLost(), ports(redis, all));
    isMarkOwed = false;
    leftOut.clear();
    long owning = owning(all);
    ofNode.counts().healed(replayed);
    LOG.info(
        "healed: {} sessions own, {} were lost; {} records replayed from the WAL, {} given up",
        owning,
        held - owning,
        replayed,
        givenUp);
  }

  private static long owning(List<HeldSession> all) {
    return all.stream().filter(of -> !of.ref().isLost()).count();
  }

  /**
   * Sends commits again that Redis had no room for, once nothing is on its way; throws as {@link
   * HealingStep#next}.
   */
  void sendAgain(RedisConnection redis) {
    HealingStep.runAll(
        isMarkOwed ? new HealingStep.ReplayMessages(NotReplayed.NONE) : new HealingStep.SendAgain(),
        ports(redis, sessions.all()));
    isMarkOwed = false;
  }

  private Ports ports(RedisConnection redis, Collection<HeldSession> all) {
    hasReadMarks = false;
    return new Ports(this, redis, sessions.slots, truth, new HeldSessions(all), wal);
  }

  /** What one healing reaches. */
  private record Ports(
      SenderHealing its,
      RedisConnection redis,
      SlotKeys[] slots,
      DurableTruth truth,
      HeldSessions sessions,
      ReplaySource wal)
      implements HealingPorts {
    @Override
    public long dueMillis() {
      return its.sessions.dueMillis.getAsLong();
    }

    @Override
    public RecordsToReplay owed() {
      return its.owed;
    }

    @Override
    public void owed(RecordsToReplay now) {
      its.owed = now;
    }

    @Override
    public JournalMarks marks() {
      return its.sessions.marks.read();
    }

    @Override
    public void marks(JournalMarks now) {
      its.sessions.marks.read(now);
      if (!its.hasReadMarks) {
        its.hasReadMarks = true;
        its.sessions.marks.noteNotTaken(now, its.unanswered);
      }
    }

    @Override
    public boolean writesMarks() {
      return its.isMarkOwed;
    }

    @Override
    public long[] newest() {
      return its.sessions.marks.answered();
    }

    @Override
    public long[] settled() {
      return its.sessions.marks.settled(
          Stream.concat(
              its.unanswered.stream().filter(Commit::isNotTaken), its.journaled.stream()));
    }

    @Override
    public void notReplayed(Set<Long> sequences) {
      its.givenUp += sequences.size();
      its.ofNode.gaveUp(sequences);
    }

    @Override
    public void replayed(int records) {
      its.replayed += records;
    }

    @Override
    public void putMessagesBack() {
      its.putMessagesBack = true;
    }

    // --- messages that were answered and that Redis may have lost

    @Override
    public List<SequenceRange> messagesAfter(long sequence) {
      return its.recent.after(sequence);
    }

    @Override
    public boolean isLeftOut(long sequence) {
      return sequence > its.newestAnswered
          || its.resent.contains(sequence)
          || its.leftOut.contains(sequence);
    }

    @Override
    public void leaveOut(Set<Long> sequences) {
      its.leftOut.addAll(sequences);
    }

    @Override
    public boolean mayHaveFailed(SequenceRange of) {
      return its.recent.mayHaveFailed(of);
    }

    @Override
    public boolean wasLost(SessionName session) {
      return its.sessions.wasLost(session);
    }

    // --- commits that are sent again

    @Override
    public @Nullable Commit firstUnanswered() {
      for (Commit commit : its.unanswered) {
        if (commit.makesRoom()) { // never behind what waits for room
          return commit;
        }
      }
      return its.unanswered.peek();
    }

    @Override
    public CommitGroup group(Commit commit) {
      return its.sessions.group(
          Mode.AGAIN,
          List.of(commit),
          isOlder(its.unanswered.peek(), commit) || isOlder(its.journaled.peek(), commit));
    }

    private static boolean isOlder(@Nullable Commit one, Commit than) {
      return one != null && one.sequence() < than.sequence();
    }

    @Override
    public void queued(Commit first) {
      its.settlement.queued(List.of(first));
      its.unanswered.remove(first);
    }

    @Override
    public void unknown(Commit first, SessionRef lost) {
      fail(
          first,
          Settlement.unknown(
              first,
              "the reply was lost, and session " + lost.id() + " no longer owns " + lost.owner()));
    }

    /**
     * With rows nobody knows: they may be in MySQL, if it was applied the first time and forgotten.
     */
    @Override
    public void refused(Commit first, CommitGroup.FailedPrecondition why) {
      RuntimeException reason = Settlement.reason(why);
      fail(
          first,
          first.rows() == 0
              ? reason
              : Settlement.unknown(first, "the reply was lost, and now " + reason.getMessage()));
    }

    @Override
    public void refused(Commit first, String message) {
      fail(first, Settlement.reason(new CommitGroup.RefusedBy(message)));
    }

    private void fail(Commit first, RuntimeException reason) {
      its.settlement.failed(first, reason);
      its.unanswered.remove(first);
    }
  }
}

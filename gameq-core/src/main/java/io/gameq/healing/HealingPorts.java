package io.gameq.healing;

import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.Unsettled;
import io.gameq.healing.ReplaySource.SequenceRange;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.script.JournalMarks;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * What the {@linkplain HealingStep steps} of a healing reach: the servers, the WAL, and what the
 * node knows. Used by one thread.
 */
public interface HealingPorts {
  /** A new connection, which flushes by itself. */
  RedisConnection redis();

  /** All of the namespace. */
  SlotKeys[] slots();

  DurableTruth truth();

  HeldSessions sessions();

  ReplaySource wal();

  /** When what is put back is due, Unix ms by the clock of Redis. */
  long dueMillis();

  /** What is to be replayed. A healing that does not come to its end leaves it to the next one. */
  RecordsToReplay owed();

  void owed(RecordsToReplay now);

  /** The journal marks, as they were read or written last. */
  JournalMarks marks();

  void marks(JournalMarks now);

  /** Whether the marks are to be written: not while nothing but room in Redis was lacking. */
  default boolean writesMarks() {
    return true;
  }

  /** By slot, the newest sequence that was answered; 0 for none. */
  long[] newest();

  /**
   * By slot, the sequence up to which Redis holds everything or what it does not hold is decided,
   * now that what was lost is put back; negative where that is not known.
   */
  long[] settled();

  /** Redis lost these records, and they are not replayed for good. */
  void notReplayed(Set<Long> sequences);

  /** How many sessions are re-asserted together. */
  default int sessionsAtOnce() {
    return 500;
  }

  /** How many records one step replays: all in one pass over the WAL. */
  default int recordsAtOnce() {
    return Integer.MAX_VALUE;
  }

  /** Records were sent to Redis again. */
  default void replayed(int records) {}

  /** Messages of records were put into Redis again. */
  default void putMessagesBack() {}

  // --- commits whose answer was lost, or that Redis had no room for, in WAL order; but
  // acknowledgements of messages come first, since they make room. Each stays the first until its
  // outcome is known.

  /** The next; null when there is none. */
  @Nullable Commit firstUnanswered();

  /** What sends a commit again, by itself. */
  CommitGroup group(Commit commit);

  /** Redis holds the first. */
  void queued(Commit first);

  /** Nobody knows what became of the first: a session of it is lost. */
  void unknown(Commit first, SessionRef lost);

  /** Redis refused the first, with this message, and holds nothing of it. */
  void refused(Commit first, String message);

  /** A message, or a row, was not as the first needs it: Redis holds nothing of it now. */
  void refused(Commit first, CommitGroup.FailedPrecondition why);

  // --- which records of the WAL change messages, and may be replayed

  /** Where records that change messages may be, beyond a sequence, in order. */
  default List<SequenceRange> messagesAfter(long sequence) {
    return List.of();
  }

  /** Whether a record is not replayed: it is not sent yet, or waits to be sent again. */
  default boolean isLeftOut(long sequence) {
    return false;
  }

  /** Does not replay the messages of records whose rows are lost for good, until all is healed. */
  default void leaveOut(Set<Long> sequences) {}

  /** Whether commits of a stretch may have failed. */
  default boolean mayHaveFailed(SequenceRange of) {
    return false;
  }

  /** Whether the node no longer holds this session because it was lost. */
  default boolean wasLost(SessionName session) {
    return false;
  }

  /** A session as WAL records name it: the owner's encoded id, and the session's text form. */
  record SessionName(String owner, String session) {
    /** The name of a session. */
    public static SessionName of(SessionRef session) {
      return new SessionName(session.owner().encoded(), session.text());
    }
  }

  /**
   * The WAL records that a replay is to send. Immutable. A replay that does not come to its end
   * leaves them owed.
   *
   * @param sequences in WAL order; not to be changed
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  record RecordsToReplay(long[] sequences) {
    public static final RecordsToReplay NOTHING = new RecordsToReplay(new long[0]);

    /** Adds what Redis may have lost of these sessions: what its marks do not prove. */
    public RecordsToReplay plusLost(Collection<HeldSession> sessions, JournalMarks marks) {
      LongStream.Builder lost = LongStream.builder();
      for (HeldSession of : sessions) {
        of.unsettled().beyond(marks.sequence(of.ref().slot()), lost);
      }
      return new RecordsToReplay(
          LongStream.concat(Arrays.stream(sequences), lost.build()).sorted().distinct().toArray());
    }

    /** Nothing but these records. */
    static RecordsToReplay of(Collection<Long> sequences) {
      return new RecordsToReplay(sequences.stream().mapToLong(Long::longValue).sorted().toArray());
    }

    @Override
    public String toString() {
      return Arrays.toString(sequences);
    }
  }

  /**
   * The sessions that a node held when it began to heal, lost ones too, in an order that stays. One
   * thread.
   */
  final class HeldSessions {
    private final List<HeldSession> all;
    private final Map<SessionName, HeldSession> byName = new HashMap<>();

    public HeldSessions(Collection<HeldSession> all) {
      this.all = List.copyOf(all);
      all.forEach(of -> byName.put(SessionName.of(of.ref()), of));
    }

    List<HeldSession> all() {
      return all;
    }

    @Nullable HeldSession find(SessionName name) {
      return byName.get(name);
    }

    @Nullable HeldSession of(WalRecord.Part part) {
      return find(new SessionName(part.owner(), part.session()));
    }

    /** What of a record may be sent: parts of sessions that do not own are left out. */
    List<CommitPart> owned(List<WalRecord.Part> parts) {
      List<CommitPart> owned = new ArrayList<>();
      for (WalRecord.Part part : parts) {
        HeldSession session = of(part);
        if (session != null && !session.ref().isLost()) {
          owned.add(
              new CommitPart(session.ref(), part.rows().stream().map(ChangedRow::new).toList()));
        }
      }
      return owned;
    }

    /** WAL sequences of which a lost session may have a half that nobody holds. */
    Set<Long> doubtful() {
      Set<Long> doubtful = new HashSet<>();
      all.stream()
          .filter(of -> of.ref().isLost())
          .forEach(of -> of.unsettled().doubtful(doubtful::add));
      return doubtful;
    }
  }

  /** A session that a node holds, and what of it may have to be sent to Redis again. */
  record HeldSession(SessionRef ref, Unsettled unsettled) {}
}

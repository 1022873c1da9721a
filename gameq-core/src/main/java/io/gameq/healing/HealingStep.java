package io.gameq.healing;

import io.gameq.GameQueueException;
import io.gameq.RedisFullException;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.Unsettled;
import io.gameq.owner.DurableSessions;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.SlotKeys.SessionKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.script.CommitScript;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.SessionScripts;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * What a healing does next: each state does one thing with one server and tells the state after it.
 * Immutable; what outlives a healing that is cut short is with the {@link HealingPorts}.
 *
 * <pre>
 * NoteLost       Redis   which WAL records it may have lost: what the journal marks do not prove
 * ReadSessions   MySQL   which sessions still own; the others are lost
 * Reassert       Redis   is told of those that own
 * Replay         Redis   gets the records back, in WAL order
 * TellWhole      Redis   holds again whatever this node may have of its owners' rows
 * Decide         both    whether halves of trades are replayed whose other half is of a session
 *                        that is lost
 * ReplayMessages Redis   gets messages back that it lost, in WAL order
 * WriteMarks     Redis   is told how far it holds the WAL
 * SendAgain      Redis   gets a commit again that has no answer; then WriteMarks once more
 * Healed                 all is done
 *
 * AskOwner       MySQL   whose a session is of which Redis refused something
 * TellOwner      Redis   is told that it still owns
 * </pre>
 *
 * <p>The connection was made before MySQL is asked here: an answer that a later failover has
 * overtaken can then not reach the new primary.
 */
public sealed interface HealingStep {
  /**
   * Does the step; returns the next.
   *
   * @throws io.gameq.RedisFullException when Redis has no room for messages that are put back, or a
   *     commit that is sent again
   * @throws GameQueueException when a server goes away, or Redis forgets a session again: then all
   *     begins anew, on a new connection
   */
  HealingStep next(HealingPorts ports);

  /** Takes all steps from one on; throws as {@link #next}. */
  static void runAll(HealingStep from, HealingPorts ports) {
    for (HealingStep step = from; !(step instanceof Healed); ) {
      step = step.next(ports);
    }
  }

  /**
   * The first step on a new connection: notes which records Redis has lost. Before any session is
   * told to Redis: a notice about what it then commits says nothing of older records that are lost.
   */
  record NoteLost() implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      ports.marks(JournalMarks.read(ports.redis(), ports.slots(), ports.wal().id()));
      List<HeldSession> owning = new ArrayList<>(ports.sessions().all());
      owning.removeIf(of -> of.ref().isLost());
      ports.owed(ports.owed().plusLost(owning, ports.marks()));
      return new ReadSessions();
    }
  }

  /** Reads in MySQL which sessions still own. */
  record ReadSessions() implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      read(ports.truth().sessions(), owning(ports.sessions().all()));
      return new Reassert(0);
    }
  }

  /** Tells Redis of sessions that own, from one of the node's sessions on. */
  record Reassert(int from) implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      List<HeldSession> all = ports.sessions().all();
      int to = Math.min(all.size(), from + ports.sessionsAtOnce());
      List<SessionRef> some = owning(all.subList(from, to));
      if (!some.isEmpty()) {
        tell(ports.redis(), ports.slots(), some);
      }
      return to < all.size() ? new Reassert(to) : new Replay(0, NotReplayed.NONE);
    }
  }

  /**
   * Sends records to Redis again, in the order of the WAL, from one of those that are owed on; as
   * many as are replayed at once, and where none of that concerns a session that owns, more.
   *
   * @param passed records that were not sent
   */
  record Replay(int from, NotReplayed passed) implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      long[] owed = ports.owed().sequences();
      NotReplayed all = passed;
      for (int begin = from; begin < owed.length; ) {
        int end = (int) Math.min(owed.length, (long) begin + ports.recordsAtOnce());
        ReplayPass pass = ReplayPass.run(ports, Arrays.copyOfRange(owed, begin, end));
        all = all.plus(pass.undecided(), pass.unreadable());
        ReplayPass.RefusedRecord refusal = pass.refusal();
        if (refusal != null) {
          int refused = Arrays.binarySearch(owed, refusal.sequence());
          return new AskOwner(refusal.session(), new Replay(refused, all), true);
        }
        begin = end;
        if (pass.sent() > 0) {
          return begin < owed.length ? new Replay(begin, all) : ended(ports, all);
        }
      }
      return ended(ports, all).next(ports);
    }

    /** Nothing is owed any more but what is undecided. */
    static HealingStep ended(HealingPorts ports, NotReplayed passed) {
      boolean isDecided = passed.undecided().isEmpty();
      ports.owed(isDecided ? RecordsToReplay.NOTHING : RecordsToReplay.of(passed.sequences()));
      if (isDecided && !passed.givenUp().isEmpty()) {
        ports.notReplayed(passed.givenUp());
      }
      return new TellWhole(passed);
    }
  }

  /** Tells Redis that it has all again, but for trades that are to be decided. */
  record TellWhole(NotReplayed passed) implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      SessionScripts.healed(ports.redis(), ports.slots(), owning(ports.sessions().all()));
      return passed.undecided().isEmpty()
          ? new ReplayMessages(passed)
          : new Decide(passed, System.nanoTime());
    }
  }

  /**
   * Puts messages back that Redis lost, once the rows that were committed with them are. The first
   * step where only what Redis had no room for is left.
   *
   * @param passed records whose rows were not replayed
   */
  record ReplayMessages(NotReplayed passed) implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      MessageReplay.run(ports, passed.givenUp());
      return new WriteMarks();
    }
  }

  /**
   * Decides whether this node's half of a trade is replayed though its other half is of a lost
   * session: only if somebody else turns out to hold that; other nodes that heal at the same time
   * may yet put it back. Later changes of its rows may be in Redis already: versions are compared.
   *
   * @param sinceNanos since when they are waited for
   */
  record Decide(NotReplayed passed, long sinceNanos) implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      boolean isLast = System.nanoTime() - sinceNanos >= DurableTruth.MOST_WAIT_NANOS;
      Map<Long, WalRecord> sent = new TreeMap<>();
      Map<Long, WalRecord> left = new TreeMap<>();
      List<Long> givenUp = new ArrayList<>();
      passed
          .undecided()
          .forEach(
              (sequence, record) -> {
                DurableTruth.Place place = place(ports, record.parts());
                if (place == DurableTruth.Place.THERE) {
                  sent.put(sequence, record);
                } else if (place == DurableTruth.Place.NOWHERE || isLast) {
                  givenUp.add(sequence);
                } else {
                  left.put(sequence, record);
                }
              });
      ReplayPass.RefusedRecord refusal = ReplayPass.run(ports, sent).refusal();
      if (refusal != null) { // all of these are decided again: versions are compared
        left.putAll(sent);
      }
      NotReplayed now = new NotReplayed(left, passed.givenUp()).plus(Map.of(), givenUp);
      if (refusal != null) {
        return new AskOwner(refusal.session(), new Decide(now, sinceNanos), true);
      }
      if (left.isEmpty()) {
        return Replay.ended(ports, now);
      }
      LockSupport.parkNanos(DurableTruth.ASK_EVERY_NANOS);
      return new Decide(now, sinceNanos);
    }

    /** Where the halves of lost sessions are: everywhere, not yet everywhere, or one nowhere. */
    private static DurableTruth.Place place(HealingPorts ports, List<WalRecord.Part> parts) {
      DurableTruth.Place place = DurableTruth.Place.THERE;
      for (WalRecord.Part part : parts) {
        HeldSession session = ports.sessions().of(part);
        if (place == DurableTruth.Place.THERE
            && !OwnerId.ofEncoded(part.owner()).isInbox() // what of these is not held is in MySQL
            && (session == null || session.ref().isLost())) {
          place = ports.truth().find(ports.redis(), part);
        }
      }
      return place;
    }
  }

  /**
   * Asks whose a session is of which Redis refused something.
   *
   * @param after what is next once the session is lost
   * @param isReplay whether records of the WAL were refused, which must not be overtaken
   */
  record AskOwner(SessionName session, HealingStep after, boolean isReplay) implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      SessionRef ref = find(ports, session);
      if (ref == null || ref.isLost()) {
        return after;
      }
      read(ports.truth().sessions(), List.of(ref));
      return ref.isLost() ? after : new TellOwner(session, after, isReplay);
    }
  }

  /** Tells Redis that a session owns which it had forgotten. */
  record TellOwner(SessionName session, HealingStep after, boolean isReplay)
      implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      SessionRef ref = find(ports, session);
      if (ref == null || ref.isLost()) {
        return after;
      }
      tell(ports.redis(), ports.slots(), List.of(ref));
      if (isReplay && !ref.isLost()) { // later records must not get there before the refused one
        throw new GameQueueException("Redis forgot session " + ref + " again");
      }
      return after;
    }
  }

  /**
   * Tells Redis how far it holds the WAL, now that what it lost is put back. Not earlier: a healing
   * that is cut short begins anew by the same marks.
   */
  record WriteMarks() implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      ports.marks(
          ports.marks().write(ports.redis(), ports.slots(), ports.wal().id(), ports.settled()));
      return ports.firstUnanswered() == null ? new Healed() : new SendAgain();
    }
  }

  /**
   * Sends the oldest commit again that has no answer: as a script, which compares versions and so
   * may run any number of times.
   */
  record SendAgain() implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      for (Commit commit; (commit = ports.firstUnanswered()) != null; ) {
        SessionRef lost = commit.lostSession();
        if (lost == null) {
          return send(ports, commit);
        }
        ports.unknown(commit, lost);
      }
      return orMarks(ports);
    }

    private static HealingStep orMarks(HealingPorts ports) {
      if (ports.firstUnanswered() != null) {
        return new SendAgain();
      }
      return ports.writesMarks() ? new WriteMarks() : new Healed();
    }

    private static HealingStep send(HealingPorts ports, Commit commit) {
      commit.setSentAgain();
      CommitGroup group = ports.group(commit);
      CommitGroup.Outcome outcome = null;
      if (!group.isThere()) {
        try {
          group.send(ports.redis()).toCompletableFuture().join();
        } catch (CompletionException e) {
          ports.refused(commit, refusal(RedisReply.answered(e), e));
          group.refused();
          return orMarks(ports);
        }
        if (!group.answered()) {
          throw new GameQueueException("Redis lost something again while it was healed");
        }
        outcome = group.outcome(0);
      }
      if (outcome instanceof CommitGroup.NotOwner not) {
        // lost, or a session that was closed meanwhile and Redis forgot
        return new AskOwner(SessionName.of(not.part().session()), new SendAgain(), false);
      }
      if (outcome instanceof CommitGroup.RefusedBy by) {
        ports.refused(commit, refusal(by.message(), new GameQueueException(by.message())));
      } else if (outcome instanceof CommitGroup.Unmet unmet) {
        ports.refused(commit, unmet);
      } else {
        ports.queued(commit);
      }
      return orMarks(ports);
    }

    /** Why Redis holds nothing of it; throws when it may, or will later. */
    private static String refusal(@Nullable String message, RuntimeException e) {
      if (message != null && RedisReply.isFull(message)) {
        throw new RedisFullException("Redis reached maxmemory");
      }
      if (message == null || !message.startsWith("WRONGTYPE")) {
        // the first time it may have been applied: it has not failed
        throw new GameQueueException("Redis does not take commits again yet: " + e.getMessage(), e);
      }
      return message;
    }
  }

  /** Redis has all again. */
  record Healed() implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      return this;
    }
  }

  /** Those that own, as far as is known. */
  private static List<SessionRef> owning(List<HeldSession> sessions) {
    return sessions.stream().map(HeldSession::ref).filter(ref -> !ref.isLost()).toList();
  }

  /** Asks MySQL; sessions that do not own are lost from then on. */
  private static void read(DurableSessions durableSessions, List<SessionRef> sessions) {
    Map<OwnerId, CountingSessions> durable =
        durableSessions.current(sessions.stream().map(SessionRef::owner).toList());
    for (SessionRef session : sessions) {
      if (!owns(durableSessions, session, durable.get(session.owner()))) {
        session.markLost();
      }
    }
  }

  private static boolean owns(
      DurableSessions durableSessions, SessionRef session, @Nullable CountingSessions durable) {
    return CountingSessions.counts(durable, session.id())
        || (session.id().isNewerThan(durable == null ? null : durable.newest())
            && durableSessions.restore(session.owner(), session.id()));
  }

  /** Tells Redis of sessions that own by MySQL; those that it refuses for newer ones are lost. */
  private static void tell(RedisConnection redis, SlotKeys[] slots, List<SessionRef> sessions) {
    boolean[] accepted = SessionScripts.reassertAll(redis, slots, sessions);
    for (int i = 0; i < accepted.length; i++) {
      if (!accepted[i]) {
        sessions.get(i).markLost();
      }
    }
  }

  /** A session of the node, or of the commit that is sent again. */
  private static @Nullable SessionRef find(HealingPorts ports, SessionName name) {
    HeldSession held = ports.sessions().find(name);
    if (held != null) {
      return held.ref();
    }
    Commit commit = ports.firstUnanswered();
    return commit == null
        ? null
        : commit.parts().stream()
            .map(CommitPart::session)
            .filter(session -> SessionName.of(session).equals(name))
            .findFirst()
            .orElse(null);
  }

  /** A session as WAL records name it: the owner's encoded id, and the session's text form. */
  public record SessionName(String owner, String session) {
    /** The name of a session. */
    public static SessionName of(SessionRef session) {
      return new SessionName(session.owner().encoded(), session.text());
    }
  }

  /**
   * Records that a replay has passed and not sent. Immutable.
   *
   * @param undecided trades, by sequence, of which a session that is lost has one half: half a
   *     trade would make something twice, or destroy it
   * @param givenUp sequences of trades of which one half is lost with its session and adopted by
   *     none, and of what the WAL cannot give back
   */
  public record NotReplayed(Map<Long, WalRecord> undecided, Set<Long> givenUp) {
    public static final NotReplayed NONE = new NotReplayed(Map.of(), Set.of());

    NotReplayed plus(Map<Long, WalRecord> moreUndecided, Collection<Long> moreGivenUp) {
      if (moreUndecided.isEmpty() && moreGivenUp.isEmpty()) {
        return this;
      }
      Map<Long, WalRecord> all = new TreeMap<>(undecided);
      all.putAll(moreUndecided);
      Set<Long> gone = new TreeSet<>(givenUp);
      gone.addAll(moreGivenUp);
      return new NotReplayed(all, gone);
    }

    /** What a replay that begins again sends again. */
    Set<Long> sequences() {
      Set<Long> all = new TreeSet<>(givenUp);
      all.addAll(undecided.keySet());
      return all;
    }

    @Override
    public String toString() {
      return undecided.keySet() + " " + givenUp;
    }
  }

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

    /**
     * What is to be replayed. A healing that does not come to its end leaves it to the next one.
     */
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
    void refused(Commit first, CommitGroup.Unmet why);

    // --- which records of the WAL change messages, and may be replayed

    /** Where records that change messages may be, beyond a sequence, in order. */
    default List<Stretch> messagesAfter(long sequence) {
      return List.of();
    }

    /** Whether a record is not replayed: it is not sent yet, or waits to be sent again. */
    default boolean isLeftOut(long sequence) {
      return false;
    }

    /**
     * Does not replay the messages of records whose rows are lost for good, until all is healed.
     */
    default void leaveOut(Set<Long> sequences) {}

    /** Whether commits of a stretch may have failed. */
    default boolean mayHaveFailed(Stretch of) {
      return false;
    }

    /** Whether the node no longer holds this session because it was lost. */
    default boolean wasLost(SessionName session) {
      return false;
    }
  }

  /** Sequences of a WAL, from and to included. */
  record Stretch(long from, long to) {}

  /**
   * The WAL records that a replay is to send. Immutable. A replay that does not come to its end
   * leaves them owed.
   */
  public static final class RecordsToReplay {
    public static final RecordsToReplay NOTHING = new RecordsToReplay(new long[0]);

    private final long[] sequences;

    private RecordsToReplay(long[] sequences) {
      this.sequences = sequences;
    }

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

    /** In WAL order. */
    public long[] sequences() {
      return sequences.clone();
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
  public static final class HeldSessions {
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
    List<CommitScript.Part> owned(List<WalRecord.Part> parts) {
      List<CommitScript.Part> owned = new ArrayList<>();
      for (WalRecord.Part part : parts) {
        HeldSession session = of(part);
        if (session != null && !session.ref().isLost()) {
          List<byte[]> rows = new ArrayList<>(2 * part.rows().size());
          for (EncodedRow row : part.rows()) {
            rows.add(SlotKeys.bytes(row.key()));
            rows.add(row.image());
          }
          owned.add(new CommitScript.Part(session.keys(), rows));
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

  /**
   * A session that a node holds: its keys in Redis, and what of it may have to be sent there again.
   */
  public record HeldSession(SessionRef ref, SessionKeys keys, Unsettled unsettled) {}
}

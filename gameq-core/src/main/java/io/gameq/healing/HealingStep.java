package io.gameq.healing;

import io.gameq.GameQueueException;
import io.gameq.RedisFullException;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.healing.HealingPorts.HeldSession;
import io.gameq.healing.HealingPorts.HeldSessions;
import io.gameq.healing.HealingPorts.RecordsToReplay;
import io.gameq.healing.HealingPorts.SessionName;
import io.gameq.message.MessageChange;
import io.gameq.owner.DurableSessions;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.script.CommitScript;
import io.gameq.redis.script.CommitScript.ScriptCommit;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.MessagesScript.WalCall;
import io.gameq.redis.script.SessionScripts;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalRecord;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
        all = all.plus(pass.undecided, pass.unreadable);
        ReplayPass.RefusedRecord refusal = pass.refusal;
        if (refusal != null) {
          int refused = Arrays.binarySearch(owed, refusal.sequence());
          return new AskOwner(refusal.session(), new Replay(refused, all), true);
        }
        begin = end;
        if (pass.sent > 0) {
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
      ReplayPass.RefusedRecord refusal = ReplayPass.run(ports, sent).refusal;
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
      } else if (outcome instanceof CommitGroup.FailedPrecondition unmet) {
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
   * Sends to Redis again, from the WAL and in its order, what Redis had acknowledged and lost, and
   * rows that sessions adopted: one script for each record, which compares versions row by row, so
   * that it may run any number of times. Nothing is sent behind a record that is known to be
   * refused. Acknowledgements go with the rows of their commit; whether these count beside those of
   * another handler is MySQL's to decide. One thread.
   */
  final class ReplayPass {
    private static final Logger LOG = LoggerFactory.getLogger(ReplayPass.class);

    /** Scripts on their way at a time; more only takes memory. */
    private static final int MOST_IN_FLIGHT = 256;

    private static final int MOST_BYTES_IN_FLIGHT = 4 << 20;
    private static final int FLUSH_EVERY = 64;
    private static final long NOT_OWNER = 0;

    private final HealingPorts ports;
    private final HeldSessions sessions;
    private final Set<Long> doubtful;
    private final RedisConnection redis;
    private final Deque<Sent> inFlight = new ArrayDeque<>();

    /** Trades, by sequence, of which a session that is lost has one half. */
    private final Map<Long, WalRecord> undecided = new LinkedHashMap<>();

    private final List<Long> unreadable = new ArrayList<>();
    private int sent;
    private int bytesInFlight;
    private int unflushed;
    private @Nullable RefusedRecord refusal;

    private ReplayPass(HealingPorts ports) {
      this.ports = ports;
      this.sessions = ports.sessions();
      this.doubtful = sessions.doubtful();
      this.redis = ports.redis();
    }

    private record Sent(CompletionStage<List<Object>> reply, ScriptCommit record, int bytes) {}

    /** The first record that Redis refused, and the session that does not own there. */
    record RefusedRecord(long sequence, SessionName session) {}

    /**
     * Replays records of the WAL; throws GameQueueException when Redis goes away, or has no room.
     */
    static ReplayPass run(HealingPorts ports, long[] sequences) {
      CommitScript.load(ports.redis());
      ReplayPass pass = new ReplayPass(ports);
      ports.redis().flushesByItself(false);
      try {
        ports.wal().read(sequences, pass::take);
        pass.finish();
      } finally {
        ports.redis().flushesByItself(true);
      }
      ports.replayed(pass.sent);
      return pass;
    }

    /** The same of trades that were undecided. */
    static ReplayPass run(HealingPorts ports, Map<Long, WalRecord> decided) {
      ReplayPass pass = new ReplayPass(ports);
      decided.forEach(pass::send);
      pass.finish();
      ports.replayed(pass.sent);
      return pass;
    }

    private void take(long sequence, @Nullable WalRecord record) {
      if (record == null) {
        unreadable.add(sequence);
      } else if (record.parts().size() > 1 && doubtful.contains(sequence)) {
        undecided.put(sequence, record);
        for (WalRecord.Part part : record.parts()) { // before anything later is sent
          HeldSession session = sessions.of(part);
          if (session != null) {
            session.unsettled().doubt(sequence, part.rows().stream().map(EncodedRow::key).toList());
          }
        }
      } else {
        send(sequence, record);
      }
    }

    private void send(long sequence, WalRecord record) {
      List<CommitPart> owned = sessions.owned(record.parts());
      if (!owned.isEmpty() && refusal == null) {
        send(
            new ScriptCommit(
                sequence,
                0,
                false,
                owned,
                // Where another session holds a part of it, it counted.
                owned.size() == record.parts().size()
                    ? record.messages().stream()
                        .filter(MessageChange.Ack.class::isInstance)
                        .toList()
                    : List.of()));
        sent++;
      }
    }

    /** Sends a record; waits while too much is on its way. */
    private void send(ScriptCommit record) {
      int bytes = record.bytes();
      WalCall call = WalCall.ofReplay(ports.slots(), ports.dueMillis());
      inFlight.add(new Sent(CommitScript.send(redis, call, List.of(), record), record, bytes));
      bytesInFlight += bytes;
      if (++unflushed == FLUSH_EVERY) {
        flush();
      }
      while (inFlight.size() > MOST_IN_FLIGHT || bytesInFlight > MOST_BYTES_IN_FLIGHT) {
        awaitFirst();
      }
    }

    /** Waits for all that is on its way. */
    private void finish() {
      while (!inFlight.isEmpty()) {
        awaitFirst();
      }
    }

    private void flush() {
      redis.flush();
      unflushed = 0;
    }

    private void awaitFirst() {
      flush();
      Sent first = inFlight.remove();
      bytesInFlight -= first.bytes;
      List<Object> reply = reply(first);
      if (reply == null) {
        if (!first.record.messages().isEmpty()) { // what is broken may be a topic's
          send(first.record.withoutMessages());
        }
        return;
      }
      long answer = (Long) reply.get(0);
      if (answer == NOT_OWNER && refusal == null) {
        CommitPart part = first.record.parts().get(((Long) reply.get(1)).intValue());
        refusal = new RefusedRecord(first.record.sequence(), SessionName.of(part.session()));
      }
    }

    /** Null when somebody else broke the key: then no commit can be put there. */
    private static @Nullable List<Object> reply(Sent of) {
      try {
        return of.reply.toCompletableFuture().join();
      } catch (CompletionException e) {
        String message = RedisReply.answered(e);
        if (message != null && message.startsWith("WRONGTYPE")) {
          LOG.error("cannot replay WAL record {}: {}", of.record.sequence(), message);
          return null;
        }
        throw new GameQueueException(
            "the replay stopped at WAL record " + of.record.sequence() + ": " + e.getMessage(), e);
      }
    }
  }
}

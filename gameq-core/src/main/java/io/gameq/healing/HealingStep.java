package io.gameq.healing;

import io.gameq.GameQueueException;
import io.gameq.RedisFullException;
import io.gameq.change.Commit;
import io.gameq.change.CommitPart;
import io.gameq.owner.CountingSessions;
import io.gameq.owner.DurableSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.OwnKey;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
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
      ports.owed(ports.owed().plusLost(ports.sessions().owning(), ports.marks()));
      return new ReadSessions();
    }
  }

  /** Reads in MySQL which sessions still own. */
  record ReadSessions() implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      read(
          ports.truth().sessions(),
          ports.sessions().owning().stream().map(HeldSession::ref).toList());
      return new Reassert(0);
    }
  }

  /** Tells Redis of sessions that own, from one of the node's sessions on. */
  record Reassert(int from) implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      List<HeldSession> all = ports.sessions().all();
      int to = Math.min(all.size(), from + ports.atOnce().sessions());
      List<SessionRef> some =
          all.subList(from, to).stream()
              .map(HeldSession::ref)
              .filter(ref -> !ref.isLost())
              .toList();
      if (!some.isEmpty()) {
        tell(ports.redis(), ports.slots(), some);
      }
      return to < all.size() ? new Reassert(to) : new Replay(0, NotReplayed.NONE);
    }
  }

  /**
   * Sends records to Redis again, in the order of the WAL, from one of those that are owed on.
   *
   * @param passed records that were not sent
   */
  record Replay(int from, NotReplayed passed) implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      return ReplayPass.replay(ports, this);
    }
  }

  /** Tells Redis that it has all again, but for trades that are to be decided. */
  record TellWhole(NotReplayed passed) implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      OwnKey.healed(
          ports.redis(),
          ports.slots(),
          ports.sessions().owning().stream().map(HeldSession::ref).toList());
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
      return MessageReplay.next(ports, passed);
    }
  }

  /**
   * Decides about trades of which one half is lost with its session: other nodes that heal at the
   * same time may yet put it back.
   *
   * @param sinceNanos since when they are waited for
   */
  record Decide(NotReplayed passed, long sinceNanos) implements HealingStep {
    @Override
    public HealingStep next(HealingPorts ports) {
      return ReplayPass.decide(ports, this);
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
      return ports.unanswered().first() == null ? new Healed() : new SendAgain();
    }
  }

  /**
   * Sends the oldest commit again that has no answer: as a script, which compares versions and so
   * may run any number of times.
   */
  record SendAgain() implements HealingStep {
    static HealingStep orMarks(HealingPorts ports) {
      if (ports.unanswered().first() != null) {
        return new SendAgain();
      }
      return ports.writesMarks() ? new WriteMarks() : new Healed();
    }

    @Override
    public HealingStep next(HealingPorts ports) {
      UnansweredCommits unanswered = ports.unanswered();
      for (Commit commit; (commit = unanswered.first()) != null; ) {
        SessionRef lost = commit.lostSession();
        if (lost == null) {
          return send(ports, commit);
        }
        unanswered.unknown(commit, lost);
      }
      return SendAgain.orMarks(ports);
    }

    private static HealingStep send(HealingPorts ports, Commit commit) {
      commit.setSentAgain();
      CommitGroup group = ports.unanswered().group(commit);
      boolean isThere = group.isThere();
      if (!isThere) {
        try {
          group.send(ports.redis()).toCompletableFuture().join();
        } catch (CompletionException e) {
          ports.unanswered().refused(commit, refusal(RedisReply.answered(e), e));
          group.refused();
          return SendAgain.orMarks(ports);
        }
        if (!group.answered()) {
          throw new GameQueueException("Redis lost something again while it was healed");
        }
      }
      CommitGroup.Outcome outcome = isThere ? null : group.outcome(0);
      if (outcome
          instanceof
          CommitGroup.NotOwner
              not) { // lost, or a session that was closed meanwhile and Redis forgot
        return new AskOwner(SessionName.of(not.part().session()), new SendAgain(), false);
      }
      if (outcome instanceof CommitGroup.RefusedBy by) {
        ports
            .unanswered()
            .refused(commit, refusal(by.message(), new GameQueueException(by.message())));
      } else if (outcome instanceof CommitGroup.Unmet unmet) {
        ports.unanswered().refused(commit, unmet);
      } else {
        ports.unanswered().queued(commit);
      }
      return SendAgain.orMarks(ports);
    }

    /** Why Redis holds nothing of it; throws when it may, or will later. */
    private static String refusal(@Nullable String message, RuntimeException e) {
      if (message != null && RedisReply.isFull(message)) {
        throw new RedisFullException("Redis reached maxmemory");
      }
      if (message == null
          || !message.startsWith(
              "WRONGTYPE")) { // the first time it may have been applied: it has not failed
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
    boolean[] accepted = OwnKey.reassertAll(redis, slots, sessions);
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
    Commit commit = ports.unanswered().first();
    return commit == null
        ? null
        : commit.parts().stream()
            .map(CommitPart::session)
            .filter(session -> SessionName.of(session).equals(name))
            .findFirst()
            .orElse(null);
  }
}

package io.gameq.commit;

import io.gameq.GameQueueException;
import io.gameq.RedisFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.WalException;
import io.gameq.agent.RepeatedWarnings;
import io.gameq.change.Commit;
import io.gameq.change.VersionClock;
import io.gameq.commit.CommitSender.SenderSessions;
import io.gameq.config.WhenRedisIsFull;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.Backoff;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.script.CommitGroup;
import io.gameq.wal.WalWriter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a sender does, over and over: the tasks of other threads, replies, the next group, and
 * recovery when something broke. Used by the sender's thread, see {@link SenderThread}; {@link
 * #healedOn} and {@link #healedElsewhereNanos} by any.
 *
 * <p>While groups are on their way, new commits gather and travel together in the next one (group
 * commit).
 *
 * <pre>
 * state     what is done with commits that wait                    left by
 * ready     WAL, then sent                                         a reply, an error, a task
 * draining  nothing, until what is on its way is answered          -> broken
 * broken    WAL, or they fail, by policy                           a healing -> ready or full
 * full      acknowledgements are sent, the rest waits              what is held is sent -> ready
 * </pre>
 */
final class SenderLoop {
  private static final Logger LOG = LoggerFactory.getLogger(SenderLoop.class);

  /** Enough to keep Redis busy while replies travel; more only adds latency. */
  private static final int MOST_GROUPS_IN_FLIGHT = 4;

  private static final int MOST_GROUP_COMMITS = 256;

  /** A MULTI holds Redis for as long as it takes: about a millisecond for this many bytes. */
  private static final int MOST_GROUP_BYTES = 1 << 20;

  /** What a script holds Redis for: about three microseconds each, a millisecond in all. */
  private static final int MOST_GROUP_MESSAGES = 400;

  /** Each is a script of its own; more only adds to the latency of what comes behind them. */
  private static final int MOST_GROUP_SCRIPTS = 16;

  private static final long LONGEST_REST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final CommitQueue queue;
  private final SenderLink link;
  private final SenderSessions sessions;
  private final Settlement settlement;
  private final SenderHealing healing;
  private final WalWriter wal;
  private final VersionClock versions;
  private final boolean waitsForRoom;
  private final Runnable onHealed;
  final SenderThread thread;

  /** In the WAL and never sent. */
  private final Deque<Commit> journaled = new ArrayDeque<>();

  /** On their way over the connection, in the order in which they were sent. */
  private final Deque<CommitGroup> inFlight = new ArrayDeque<>();

  /** Sent without an answer, to be sent again, in WAL order. */
  private final Deque<Commit> unanswered = new ArrayDeque<>();

  /** Taken from where they were, and not put anywhere yet. */
  private final List<Commit> inHand = new ArrayList<>();

  private final Queue<Reply> replies = new ConcurrentLinkedQueue<>();

  /** The server, by its run id, that has been told of all sessions and got all that it lost. */
  private volatile @Nullable String healedOn;

  private volatile long healedElsewhereNanos;

  private final Backoff backoff = new Backoff(50, 2_000);
  private final RepeatedWarnings complaints = new RepeatedWarnings(10);
  private RedisConnection redis;
  private String lastHealedOn;
  private boolean broken;

  /** Redis has no room for what is unanswered. */
  private boolean full;

  /** Why the connection is to be given up once what is on its way is answered. */
  private @Nullable String draining;

  private long retryAtNanos;

  private record Reply(CommitGroup group, @Nullable Throwable error) {}

  /** Connects; the thread is not started yet. */
  SenderLoop(
      CommitQueue queue,
      SenderLink link,
      SenderSessions sessions,
      Settlement settlement,
      SenderHealing healing,
      WalWriter wal,
      VersionClock versions,
      WhenRedisIsFull whenFull,
      Runnable onHealed,
      Executor eventLoop) {
    this.queue = queue;
    this.link = link;
    this.sessions = sessions;
    this.settlement = settlement;
    this.healing = healing;
    this.wal = wal;
    this.versions = versions;
    this.waitsForRoom = whenFull == WhenRedisIsFull.WAIT;
    this.onHealed = onHealed;
    redis = link.connect();
    healing.begin(redis);
    lastHealedOn = link.server();
    healedOn = lastHealedOn; // there is nothing yet that it could have lost
    thread = new SenderThread(eventLoop, this::workWithoutWaiting, "gameq-sender", this::run);
  }

  // --- the loop

  /** Works until the sender ends; on its own thread. */
  private void run(SenderThread own) {
    try {
      while (!isFinished()) {
        if (isReady() && !queue.isStopping()) {
          own.lendToEventLoop();
        } else if (work() == 0) {
          own.rest(this::hasNothingToDo, restNanos());
        }
      }
      int unused = queue.runTasks();
    } catch (RuntimeException | Error e) {
      queue.died(e);
    } finally {
      queue.ended();
      failAll();
      redis.close();
    }
  }

  private boolean isFinished() {
    return queue.isAbandoned()
        || (queue.isStopping() && hasNone() && inFlight.isEmpty() && unanswered.isEmpty());
  }

  /** All there is to do on the event loop; false when the sender's own thread has to go on. */
  private boolean workWithoutWaiting() {
    disconnectIfClosed();
    while (isReady() && !queue.isStopping()) {
      int work = queue.runTasks() + takeReplies();
      if (isReady() && !queue.isStopping()) {
        work += sendNext();
      }
      if (work == 0) {
        return true;
      }
    }
    return false;
  }

  /** A round on the sender's own thread; returns how much was done. */
  private int work() {
    int work = queue.runTasks() + takeReplies();
    disconnectIfClosed();
    if (isReady()) {
      return work + sendNext();
    }
    if (broken) {
      work += journalWaiting();
    } else if (retryAtNanos - System.nanoTime() > 0 && inFlight.size() < MOST_GROUPS_IN_FLIGHT) {
      work += send(takeToMakeRoom(), true); // later, what is held is next
    }
    return work + recover();
  }

  private boolean hasNothingToDo() {
    boolean nothingToSend = broken ? queue.waiting().isEmpty() : !isReady() || cannotSend();
    return replies.isEmpty() && queue.hasNoTasks() && nothingToSend && !isFinished();
  }

  /** For how long there is nothing to do unless a reply comes. */
  private long restNanos() {
    long left = retryAtNanos - System.nanoTime();
    boolean waitsForReplies = !broken && !inFlight.isEmpty();
    return isReady() || (waitsForReplies && left <= 0) ? LONGEST_REST_NANOS : left;
  }

  /** Whether nothing calls for an answer that has to be waited for. */
  private boolean isReady() {
    return !broken && !full && draining == null;
  }

  // --- commits that wait: version, WAL, group, send

  /** Sends the next group, if there is any; returns how many that were. */
  private int sendNext() {
    if (cannotSend()) {
      return 0;
    }
    int unused = send(takeGroup(), false);
    return 1; // also when all of them failed: more may wait
  }

  private boolean cannotSend() {
    return hasNone() || inFlight.size() >= MOST_GROUPS_IN_FLIGHT || followsUnanswered();
  }

  private boolean hasNone() {
    return queue.waiting().isEmpty() && journaled.isEmpty();
  }

  /** The next commit: those that were journaled while Redis was away, then those that wait. */
  private @Nullable Commit first() {
    return journaled.isEmpty() ? queue.waiting().peek() : journaled.peek();
  }

  /**
   * Whether what comes next deletes or retimes a message whose publish has no answer: Redis may
   * refuse that for want of room, and gets it once more then.
   */
  private boolean followsUnanswered() {
    Commit next = waitsForRoom ? first() : null;
    return next != null && next.changesPending() && next.changesPendingOf(published(List.of()));
  }

  /** The messages that commits on their way publish, and these. */
  private Set<MessageId> published(List<Commit> taken) {
    Set<MessageId> ids = new HashSet<>();
    inFlight.forEach(group -> group.commits().forEach(of -> of.addPublished(ids)));
    taken.forEach(of -> of.addPublished(ids));
    return ids;
  }

  /** Takes the commits that travel together next. */
  private List<Commit> takeGroup() {
    List<Commit> taken = new ArrayList<>();
    Set<MessageId> published = null;
    int bytes = 0;
    int messages = 0;
    for (Commit next;
        (next = first()) != null && bytes < MOST_GROUP_BYTES && messages < MOST_GROUP_MESSAGES; ) {
      boolean alone = next.goesAlone();
      if (taken.size() >= (alone ? MOST_GROUP_SCRIPTS : MOST_GROUP_COMMITS)
          || (!taken.isEmpty() && taken.get(0).goesAlone() != alone)) {
        break;
      }
      if (waitsForRoom && next.changesPending()) {
        published = published == null ? published(taken) : published;
        if (next.changesPendingOf(published)) {
          break;
        }
      }
      if (journaled.isEmpty() ? queue.waiting().remove(next) : journaled.remove(next)) {
        inHand.add(next);
        taken.add(next);
        if (published != null) {
          next.addPublished(published);
        }
        bytes += next.bytes();
        messages += next.changedMessages();
      }
    }
    return taken;
  }

  /**
   * While Redis is full and others are held: takes those that wait and {@linkplain Commit#makesRoom
   * make room} there, which are acknowledgements.
   */
  private List<Commit> takeToMakeRoom() {
    List<Commit> taken = new ArrayList<>();
    int changes = 0;
    for (Collection<Commit> from : List.of(journaled, queue.waiting())) {
      for (Iterator<Commit> it = from.iterator();
          it.hasNext() && changes < MOST_GROUP_MESSAGES && taken.size() < MOST_GROUP_COMMITS; ) {
        Commit next = it.next();
        if (next.makesRoom()) {
          it.remove();
          inHand.add(next);
          taken.add(next);
          changes += next.changedMessages();
        }
      }
    }
    return taken;
  }

  /** Appends these to the WAL and sends them; returns 0 when none is left to send. */
  private int send(List<Commit> taken, boolean overtakes) {
    List<Commit> commits = append(taken);
    if (commits.isEmpty()) {
      inHand.clear();
      return 0;
    }
    CommitGroup group = sessions.group(commits, overtakes);
    inFlight.add(group);
    inHand.clear();
    try {
      group
          .send(redis)
          .whenComplete(
              (ignored, error) -> {
                replies.add(
                    new Reply(
                        group,
                        error == null && !group.wasDiscarded() ? null : group.whyFailed(error)));
                thread.wake();
              });
    } catch (RuntimeException e) {
      if (!RedisReply.isOfClient(e)) {
        throw e;
      }
      replies.add(new Reply(group, e));
    }
    return 1;
  }

  /** While Redis is away: what waits goes into the WAL, or fails; returns how many that were. */
  private int journalWaiting() {
    int done = 0;
    List<Commit> taken = new ArrayList<>();
    for (Commit next;
        taken.size() < MOST_GROUP_COMMITS && (next = queue.waiting().poll()) != null;
        done++) {
      inHand.add(next);
      if (queue.failsWhileAway()) {
        settlement.dropped(
            next, new RedisUnavailableException("Redis went away: the commit was not sent"));
      } else {
        taken.add(next);
      }
    }
    journaled.addAll(append(taken));
    inHand.clear();
    return done;
  }

  /**
   * Gives commits their versions and appends them to the WAL, but for those that it has: what Redis
   * may hold, the WAL has. Returns the ones that are to be sent: the others have failed.
   *
   * <p>Looks at the sessions of all of them first: no cache has these any more, and a processor
   * fetches many at once where it does the same over and over.
   */
  private List<Commit> append(List<Commit> commits) {
    List<Commit> owned = new ArrayList<>(commits.size());
    for (Commit commit : commits) {
      SessionRef lost = commit.lostSession();
      if (lost == null) {
        owned.add(commit);
      } else if (commit.sequence() == 0) {
        settlement.dropped(commit, Settlement.lost(lost));
      } else {
        settlement.failed(commit, Settlement.lost(lost));
      }
    }
    List<Commit> appended = new ArrayList<>(owned.size());
    for (Commit commit : owned) {
      if (commit.sequence() != 0 || append(commit)) {
        appended.add(commit);
      }
    }
    if (appended.isEmpty()) {
      return appended;
    }
    try {
      wal.sync(); // survives a power loss, if it is to
    } catch (WalException e) { // Redis never gets them, but a replay of the WAL may
      String why = String.valueOf(e.getMessage());
      appended.forEach(commit -> settlement.dropped(commit, Settlement.unknown(commit, why)));
      return List.of();
    }
    appended.forEach(Commit::journaled);
    return appended;
  }

  /** The version is given no sooner: by now it is known which handovers have failed. */
  private boolean append(Commit commit) {
    try {
      commit.setVersion(versions.next(1));
      wal.append(commit);
      settlement.appended(commit);
      return true;
    } catch (RuntimeException e) {
      settlement.dropped(
          commit,
          e instanceof WalException torn && torn.mayBeReadable()
              ? Settlement.unknown(commit, String.valueOf(torn.getMessage()))
              : e);
      return false;
    }
  }

  // --- replies

  /** Settles what was answered; returns how many groups that were. */
  private int takeReplies() {
    sessions.recent.openFrom(oldestOpen());
    int done = 0;
    for (Reply reply; (reply = replies.poll()) != null; done++) {
      if (!inFlight.contains(reply.group)) {
        continue; // of a connection that was given up
      }
      String refusal = reply.error == null ? null : RedisReply.answered(reply.error);
      if (reply.error != null && (refusal == null || RedisReply.isAway(refusal))) {
        disconnect(String.valueOf(reply.error.getMessage()));
      } else {
        inFlight.remove(reply.group);
        settle(reply.group, refusal);
      }
    }
    return done;
  }

  /** The sequence of the oldest commit in the WAL without an answer; 0 for none. */
  private long oldestOpen() {
    if (!unanswered.isEmpty()) {
      return unanswered.element().sequence();
    }
    if (!inFlight.isEmpty()) {
      return inFlight.element().commits().get(0).sequence();
    }
    return journaled.isEmpty() ? 0 : journaled.element().sequence();
  }

  /**
   * Settles the commits of a group.
   *
   * @param refusal what Redis answered to all of it; null when it answered each
   */
  private void settle(CommitGroup group, @Nullable String refusal) {
    List<Commit> commits = group.commits();
    inHand.addAll(commits);
    boolean fits = true;
    if (refusal == null) {
      fits = group.answered();
    } else {
      group.refused();
    }
    List<Commit> queued = new ArrayList<>(commits.size());
    List<Commit> again = new ArrayList<>();
    List<Commit> held = new ArrayList<>();
    List<Settlement.Failure> failed = new ArrayList<>();
    for (int i = 0; i < commits.size(); i++) {
      Commit commit = commits.get(i);
      CommitGroup.Outcome outcome =
          refusal != null ? new CommitGroup.RefusedBy(refusal) : group.outcome(i);
      if (outcome instanceof CommitGroup.Applied) { // nearly always
        queued.add(commit);
      } else if (outcome instanceof CommitGroup.NotOwner not) {
        SessionRef session = not.part().session();
        if (not.isNewer()) {
          session.markLost();
        }
        if (session.isLost()) {
          failed.add(new Settlement.Failure(commit, Settlement.lost(session)));
        } else {
          commit.setNotTaken();
          again.add(commit);
        }
      } else if (outcome instanceof CommitGroup.RefusedBy refused) {
        if (waitsForRoom && RedisReply.isFull(refused.message())) {
          commit.setNotTaken();
          held.add(commit);
        } else {
          failed.add(Settlement.refused(commit, refused.message()));
        }
      } else if (outcome instanceof CommitGroup.Forgotten) {
        commit.setNotTaken();
        again.add(commit);
      } else if (outcome instanceof CommitGroup.TakenInPart taken) {
        settlement.dropped(
            commit, Settlement.unknown(commit, "Redis took only part of it: " + taken.message()));
      } else {
        CommitGroup.Unmet unmet = (CommitGroup.Unmet) outcome;
        failed.add(new Settlement.Failure(commit, Settlement.refusal(unmet)));
      }
    }
    settlement.queued(queued);
    settlement.failed(failed);
    if (!held.isEmpty()) {
      unanswered.addAll(held);
      redisIsFull();
    }
    if (!again.isEmpty()) {
      unanswered.addAll(again); // in WAL order: before those in flight
      healAgain("it forgot a session, or commits");
    } else if (!fits) {
      healAgain("its journal marks are not as it told: it has lost commits");
    }
    inHand.clear();
  }

  // --- recovery

  /** The server, by its run id, that this node has healed on; null while the connection is down. */
  @Nullable String healedOn() {
    return healedOn;
  }

  /** See {@link CommitSender#healedElsewhereNanos}. */
  long healedElsewhereNanos() {
    return healedElsewhereNanos;
  }

  boolean isBroken() {
    return broken;
  }

  /** A connection that ended while nothing was on its way is told by no reply. */
  private void disconnectIfClosed() {
    if (!broken && !redis.isOpen()) {
      disconnect("it is closed");
    }
  }

  /** Gives the connection up: whatever has no answer yet is sent again once healed. */
  void disconnect(String why) {
    LOG.warn(
        "lost the connection to Redis ({}); {} groups of commits have no answer yet",
        why,
        inFlight.size());
    redis.closeSoon();
    resendInFlight();
    broken = true;
    full = false;
    draining = null;
    backoff.reset();
    retryNow();
    healedOn = null;
    sessions.recent.away();
    queue.redisIsAway();
  }

  /** What is on its way will not be answered: it is to be sent again, after what is already. */
  private void resendInFlight() {
    inFlight.forEach(group -> unanswered.addAll(group.commits()));
    inFlight.clear();
  }

  /**
   * Redis was seen to have lost something: heals as after a reconnect. Once what is on its way is
   * answered: else nobody knew what of that Redis has.
   */
  void healAgain(String why) {
    healing.oweAll();
    if (!broken && draining == null) {
      draining = why;
      retryNow();
    }
  }

  /** Does not wait any longer before it recovers. */
  void retryNow() {
    retryAtNanos = System.nanoTime();
  }

  private void retryLater() {
    retryAtNanos = System.nanoTime() + backoff.nextNanos();
  }

  /** Redis has no room, and the policy is to wait: nothing new is sent until it took these. */
  private void redisIsFull() {
    if (!full) {
      LOG.warn("Redis reached maxmemory: commits wait until the writers have drained enough");
      full = true;
      backoff.reset();
      retryLater();
    }
  }

  /** Reconnects or sends what is held, if it is time; returns 0 when nothing came of it. */
  private int recover() {
    if (isReady() || retryAtNanos - System.nanoTime() > 0 || (!broken && !inFlight.isEmpty())) {
      return 0;
    }
    if (draining != null) {
      disconnect(draining);
    }
    return broken ? reconnect() : sendHeld();
  }

  private int reconnect() {
    try {
      redis.closeSoon();
      redis = link.connect();
      link.silenceOthers(redis);
      link.beatFirst(redis);
      int again = unanswered.size();
      healing.run(redis, unanswered);
      LOG.info("{} commits without an answer sent again", again);
      healed();
      return 1;
    } catch (RedisFullException e) { // sessions are re-asserted; commits without an answer wait
      healed();
      redisIsFull();
      return 1;
    } catch (RuntimeException e) {
      requireTransient(e);
      retryLater();
      complaints.about("heal", LOG::warn, () -> "cannot heal yet: " + e.getMessage());
      return 0;
    }
  }

  private void healed() {
    broken = false;
    sessions.recent.healed();
    queue.redisIsBack();
    if (!link.server().equals(lastHealedOn) || healing.putMessagesBack()) {
      healedElsewhereNanos = System.nanoTime();
    }
    lastHealedOn = link.server();
    healedOn = lastHealedOn;
    onHealed.run();
  }

  /** Sends what waits for room in Redis again, in order. */
  private int sendHeld() {
    try {
      healing.sendAgain(redis, unanswered);
      full = false;
      LOG.info("all commits that waited are sent again");
      return 1;
    } catch (RedisFullException e) {
      retryLater();
      return 0;
    } catch (RuntimeException e) {
      requireTransient(e);
      disconnect(String.valueOf(e.getMessage()));
      return 0;
    }
  }

  /** Throws what no further attempt helps against: an error of gameq's own. */
  private static void requireTransient(RuntimeException e) {
    if (!(e instanceof GameQueueException
        || RedisReply.isOfClient(e)
        || e instanceof IllegalStateException)) { // that: a client that was shut down
      throw e;
    }
  }

  // --- the end

  /**
   * Tells the game of commits that nobody will answer any more. The WAL gets no mark that they
   * failed: recovery decides by versions.
   */
  private void failAll() {
    resendInFlight();
    List<Commit> all = new ArrayList<>(unanswered);
    all.addAll(inHand);
    all.addAll(journaled);
    for (Commit commit; (commit = queue.waiting().poll()) != null; ) {
      all.add(commit);
    }
    String why =
        queue.death() == null
            ? "the node closed before Redis answered"
            : "the sender of this node died before Redis answered";
    for (Commit commit : all) {
      try {
        settlement.dropped(commit, Settlement.unknown(commit, why));
      } catch (RuntimeException | Error e) { // the others are to be told all the same
        LOG.warn("a commit that nobody will answer could not be told so", e);
      }
    }
  }
}

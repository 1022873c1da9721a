package io.gameq.redis;

import io.gameq.CommitFailedException;
import io.gameq.CommitUnknownException;
import io.gameq.GameQueueException;
import io.gameq.OwnershipLostException;
import io.gameq.RedisFullException;
import io.gameq.commit.ChangedRow;
import io.gameq.commit.Commit;
import io.gameq.commit.CommitPart;
import io.gameq.commit.SessionRef;
import io.gameq.commit.VersionClock;
import io.gameq.wal.WalException;
import io.gameq.wal.WalWriter;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries the commits of a node to Redis in WAL order: version, WAL, group, send, answer. One
 * thread of its own does all of it; {@link #submit} and the session methods are called by any.
 *
 * <p>While groups are on their way, new commits gather and travel together in the next one (group
 * commit). When the connection breaks, nothing new is sent until it is rebuilt and healed: sessions
 * are read again in MySQL and re-asserted, and commits without an answer are sent again in order as
 * scripts that compare versions.
 *
 * <p>A process kill loses what is in memory here; the WAL has everything that was sent.
 */
public final class CommitSender implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CommitSender.class);

  /** Enough to keep Redis busy while replies travel; more only adds latency. */
  private static final int MOST_GROUPS_IN_FLIGHT = 4;

  private static final int MOST_GROUP_COMMITS = 256;

  /** A MULTI holds Redis for as long as it takes: about a millisecond for this many bytes. */
  private static final int MOST_GROUP_BYTES = 1 << 20;

  private static final long APPEND_TIMEOUT_SECONDS = 30;

  private final RedisConnector connector;
  private final RedisClock clock;
  private final VersionClock versions;
  private final WalWriter wal;
  private final byte[] walId;
  private final SlotKeys[] slots;
  private final long mergeWindowMillis;
  private final Admission admission;
  private final DurableSessions durableSessions;
  private final Executor callbacks;
  private final Thread thread;

  private final Queue<Commit> inbox = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Queue<Reply> replies = new ConcurrentLinkedQueue<>();
  private final Map<SessionRef, SessionKeys> sessions = new ConcurrentHashMap<>();
  private volatile boolean parked;
  private volatile boolean stopping;
  private volatile boolean abandoned;

  // Of the sender's thread only.
  private StatefulRedisConnection<byte[], byte[]> redis;
  private final Deque<Sent> inFlight = new ArrayDeque<>();
  private final Deque<Commit> unanswered = new ArrayDeque<>();
  private final IdentityHashMap<SessionRef, Long> reassertedAfter = new IdentityHashMap<>();
  private final Backoff backoff = new Backoff(50, 2_000);
  private boolean broken;
  private long healAtNanos;
  private long sentGroups;

  private record Sent(long number, CommitGroup group) {}

  private record Reply(Sent sent, @Nullable Throwable error) {}

  /** What a sender works with. */
  public record Parts(
      RedisConnector connector,
      RedisClock clock,
      VersionClock versions,
      WalWriter wal,
      SlotKeys[] slots,
      long mergeWindowMillis,
      io.gameq.commit.Limits limits,
      DurableSessions durableSessions,
      Executor callbacks) {}

  /** Connects and starts the thread. */
  public CommitSender(Parts parts) {
    connector = parts.connector();
    clock = parts.clock();
    versions = parts.versions();
    wal = parts.wal();
    walId = SlotKeys.bytes(wal.id());
    slots = parts.slots();
    mergeWindowMillis = parts.mergeWindowMillis();
    admission = new Admission(parts.limits());
    durableSessions = parts.durableSessions();
    callbacks = parts.callbacks();
    redis = connect();
    thread = new Thread(this::run, "gameq-sender");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Takes a commit over; returns at once unless the node is full.
   *
   * @throws io.gameq.QueueFullException when no room came in time, or the sender is closed; then
   *     the commit was not taken
   */
  public void submit(Commit commit) {
    admission.enter(commit.bytes());
    if (stopping) {
      admission.leave(commit.bytes());
      throw new io.gameq.QueueFullException("the queue is closed");
    }
    inbox.add(commit);
    wake();
  }

  /** Makes a session known, so that it is healed after a reconnect. */
  public void register(SessionRef session) {
    sessions.put(session, new SessionKeys(slots[session.slot()], session));
  }

  /** Forgets a session that has nothing more to commit. */
  public void unregister(SessionRef session) {
    sessions.remove(session);
  }

  /**
   * Appends rows that a session adopted to the WAL; returns when they are in it. Throws {@link
   * WalException}.
   */
  public void appendAdopted(CommitPart part) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    tasks.add(
        () -> {
          try {
            wal.appendAdopted(part);
            done.complete(null);
          } catch (RuntimeException e) {
            done.completeExceptionally(e);
          }
        });
    wake();
    done.orTimeout(APPEND_TIMEOUT_SECONDS, TimeUnit.SECONDS);
    try {
      done.join();
    } catch (java.util.concurrent.CompletionException e) {
      throw new GameQueueException(
          "adopted rows could not be appended to the WAL: " + e.getCause(), e);
    }
  }

  private void wake() {
    if (parked) {
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    try {
      while (!abandoned
          && !(stopping && inbox.isEmpty() && inFlight.isEmpty() && unanswered.isEmpty())) {
        int work = runTasks() + takeReplies() + (broken ? healWhenDue() : sendNext());
        if (work == 0) {
          rest();
        }
      }
      runTasks();
    } catch (RuntimeException | Error e) {
      LOG.error(
          "the sender of this node stopped: no further commit is taken, and the WAL {} is needed for recovery",
          wal.directory(),
          e);
      throw e;
    } finally {
      stopping = true;
      giveUp();
      redis.close();
    }
  }

  /**
   * What nobody will answer any more. Its commits stay in the WAL without a failed mark: recovery
   * decides by versions.
   */
  private void giveUp() {
    inFlight.forEach(sent -> unanswered.addAll(sent.group.commits()));
    unanswered.addAll(inbox);
    inbox.clear();
    for (Commit commit : unanswered) {
      fail(
          commit,
          new CommitUnknownException(
              "the node closed before Redis answered: unknown whether these rows were committed: "
                  + rowKeys(commit)));
    }
  }

  private void rest() {
    parked = true;
    boolean idle =
        replies.isEmpty()
            && tasks.isEmpty()
            && (broken || inbox.isEmpty() || inFlight.size() >= MOST_GROUPS_IN_FLIGHT);
    if (idle && !(stopping && inFlight.isEmpty() && unanswered.isEmpty())) {
      LockSupport.parkNanos(
          this,
          broken
              ? Math.max(1, healAtNanos - System.nanoTime())
              : TimeUnit.MILLISECONDS.toNanos(100));
    }
    parked = false;
  }

  private int runTasks() {
    int done = 0;
    for (Runnable task; (task = tasks.poll()) != null; done++) {
      task.run();
    }
    return done;
  }

  // --- send

  private int sendNext() {
    if (inbox.isEmpty() || inFlight.size() >= MOST_GROUPS_IN_FLIGHT) {
      return 0;
    }
    List<Commit> commits = new ArrayList<>();
    int bytes = 0;
    for (Commit next;
        (next = inbox.peek()) != null
            && commits.size() < MOST_GROUP_COMMITS
            && bytes < MOST_GROUP_BYTES; ) {
      if (next.isSpanning() && !commits.isEmpty()) {
        break;
      }
      inbox.remove();
      if (journal(next)) {
        commits.add(next);
        bytes += next.bytes();
      }
      if (next.isSpanning()) {
        break;
      }
    }
    if (!commits.isEmpty()) {
      send(commits);
    }
    return 1;
  }

  /** Gives a commit its versions and appends it to the WAL; false when it failed. */
  private boolean journal(Commit commit) {
    for (CommitPart part : commit.parts()) {
      if (part.session().isLost()) {
        fail(commit, lost(part.session()));
        return false;
      }
    }
    try {
      commit.setVersion(versions.next(commit.hasMoves() ? 2 : 1));
      wal.append(commit); // before Redis: what Redis may hold, the WAL has
      return true;
    } catch (RuntimeException e) {
      fail(commit, e);
      return false;
    }
  }

  private void send(List<Commit> commits) {
    CommitGroup group =
        new CommitGroup(commits, this::keys, walId, clock.getAsLong() + mergeWindowMillis);
    Sent sent = new Sent(++sentGroups, group);
    inFlight.add(sent);
    try {
      group
          .send(redis)
          .whenComplete(
              (ignored, error) -> {
                Throwable discarded = group.discarded();
                replies.add(new Reply(sent, discarded != null ? discarded : error));
                wake();
              });
    } catch (RedisException e) {
      replies.add(new Reply(sent, e));
    }
  }

  private SessionKeys keys(CommitPart part) {
    SessionKeys keys = sessions.get(part.session());
    return keys != null ? keys : new SessionKeys(slots[part.session().slot()], part.session());
  }

  // --- answer

  private int takeReplies() {
    int done = 0;
    for (Reply reply; (reply = replies.poll()) != null; done++) {
      if (!inFlight.contains(reply.sent)) {
        continue; // of a connection that was given up
      }
      String message = reply.error == null ? null : RedisReply.answered(reply.error);
      if (reply.error != null && (message == null || RedisReply.isAway(message))) {
        breakOff(reply.error);
      } else {
        inFlight.remove(reply.sent);
        settle(reply.sent, message);
      }
    }
    return done;
  }

  /** Gives the connection up: whatever has no answer yet is sent again once healed. */
  private void breakOff(Throwable why) {
    LOG.warn(
        "lost the connection to Redis ({}); {} groups of commits have no answer yet",
        why.toString(),
        inFlight.size());
    redis.closeAsync();
    inFlight.forEach(sent -> unanswered.addAll(sent.group.commits()));
    inFlight.clear();
    broken = true;
    backoff.reset();
    healAtNanos = System.nanoTime();
  }

  private void settle(Sent sent, @Nullable String error) {
    List<Commit> commits = sent.group.commits();
    List<Commit> queued = new ArrayList<>(commits.size());
    for (int i = 0; i < commits.size(); i++) {
      Commit commit = commits.get(i);
      CommitGroup.Outcome outcome =
          error != null ? new CommitGroup.RefusedBy(error) : sent.group.outcome(i);
      if (outcome instanceof CommitGroup.NotOwner not
          && reassertedAfter.getOrDefault(not.part().session(), 0L) >= sent.number
          && not.written()) {
        outcome = new CommitGroup.Applied();
      }
      if (outcome instanceof CommitGroup.Applied) {
        queued.add(commit);
      } else if (outcome instanceof CommitGroup.RefusedBy e) {
        refuse(commit, e.message());
      } else if (outcome instanceof CommitGroup.NotOwner not && settleNotOwner(commit, not)) {
        queued.add(commit);
      }
    }
    tellQueued(queued);
  }

  private void tellQueued(List<Commit> queued) {
    queued.forEach(commit -> admission.leave(commit.bytes()));
    if (!queued.isEmpty()) {
      callbacks.execute(() -> queued.forEach(Commit::queued));
    }
  }

  /**
   * Whether the commit turned out to be queued: Redis had only forgotten the session. Otherwise the
   * commit is settled here.
   */
  private boolean settleNotOwner(Commit commit, CommitGroup.NotOwner not) {
    SessionRef session = not.part().session();
    try {
      if (isNewer(not.ownedBy(), session) || !reassert(session)) {
        session.markLost();
        failJournaled(commit, lost(session));
        return false;
      }
      reassertedAfter.put(session, sentGroups);
      if (not.written()) {
        return true;
      }
    } catch (RuntimeException e) {
      LOG.warn("cannot find out yet whether session {} still owns: {}", session, e.getMessage());
    }
    unanswered.add(commit);
    if (!broken) {
      breakOff(new GameQueueException("Redis forgot session " + session));
    }
    return false;
  }

  private static boolean isNewer(@Nullable String ownedBy, SessionRef than) {
    return ownedBy != null && ownedBy.compareTo(than.id().text()) > 0;
  }

  private void refuse(Commit commit, String message) {
    failJournaled(
        commit,
        RedisReply.isFull(message)
            ? new RedisFullException(
                "Redis reached maxmemory and refused the commit: let the writers drain, or raise maxmemory")
            : new CommitFailedException("Redis refused the commit: " + message));
  }

  private void failJournaled(Commit commit, RuntimeException reason) {
    try {
      wal.appendFailed(commit); // before the game is told
    } catch (WalException e) {
      reason.addSuppressed(e);
    }
    fail(commit, reason);
  }

  private void fail(Commit commit, RuntimeException reason) {
    admission.leave(commit.bytes());
    callbacks.execute(() -> commit.failed(reason));
  }

  private static OwnershipLostException lost(SessionRef session) {
    return new OwnershipLostException(
        "session "
            + session.id()
            + " no longer owns "
            + session.owner()
            + ": a newer session was opened; open the owner again");
  }

  // --- heal

  private StatefulRedisConnection<byte[], byte[]> connect() {
    StatefulRedisConnection<byte[], byte[]> connection = connector.open();
    try {
      RedisServerCheck.check(connection);
      clock.measure(connection);
      connection.setAutoFlushCommands(false);
      return connection;
    } catch (RuntimeException e) {
      connection.closeAsync();
      throw e;
    }
  }

  private int healWhenDue() {
    return System.nanoTime() - healAtNanos < 0 ? 0 : heal();
  }

  private int heal() {
    try {
      redis.closeAsync();
      redis = connect();
      redis.setAutoFlushCommands(true);
      int lostSessions = reassertAll();
      int again = unanswered.size();
      sendAgain();
      redis.setAutoFlushCommands(false);
      broken = false;
      backoff.reset();
      LOG.info(
          "connected to Redis again: {} sessions re-asserted, {} lost, {} commits sent again",
          sessions.size(),
          lostSessions,
          again);
      return 1;
    } catch (GameQueueException | RedisException e) {
      healAtNanos = System.nanoTime() + backoff.nextNanos();
      LOG.warn("cannot heal yet: {}", e.getMessage());
      return 0;
    }
  }

  private int reassertAll() {
    Map<io.gameq.OwnerId, io.gameq.SessionId> current =
        durableSessions.current(
            sessions.keySet().stream().filter(s -> !s.isLost()).map(SessionRef::owner).toList());
    int lost = 0;
    for (SessionRef session : sessions.keySet()) {
      if (!session.isLost()
          && !(session.id().equals(current.get(session.owner()))
              && SessionScripts.reassert(
                  redis, slots[session.slot()], session.owner(), session.id()))) {
        session.markLost();
        lost++;
      }
    }
    return lost;
  }

  private boolean reassert(SessionRef session) {
    redis.setAutoFlushCommands(true);
    try {
      return session
              .id()
              .equals(durableSessions.current(List.of(session.owner())).get(session.owner()))
          && SessionScripts.reassert(redis, slots[session.slot()], session.owner(), session.id());
    } finally {
      redis.setAutoFlushCommands(false);
    }
  }

  /**
   * Sends commits without an answer again, in order; each leaves the queue only when its outcome is
   * known.
   */
  private void sendAgain() {
    for (Commit commit; (commit = unanswered.peek()) != null; ) {
      SessionRef lost =
          commit.parts().stream()
              .map(CommitPart::session)
              .filter(SessionRef::isLost)
              .findFirst()
              .orElse(null);
      if (lost != null) {
        failJournaled(commit, unknown(commit, lost));
        unanswered.remove();
        continue;
      }
      try {
        List<Object> reply =
            CommitGroup.commitScript(
                    redis, commit, this::keys, walId, clock.getAsLong() + mergeWindowMillis)
                .toCompletableFuture()
                .join();
        CommitGroup.Outcome outcome = CommitGroup.scriptOutcome(commit, reply);
        if (outcome instanceof CommitGroup.Applied) {
          tellQueued(List.of(commit));
          unanswered.remove();
        } else if (outcome instanceof CommitGroup.NotOwner not
            && (isNewer(not.ownedBy(), not.part().session())
                || !reassertNow(not.part().session()))) {
          not.part().session().markLost();
        } // else Redis had forgotten a session that was closed meanwhile: once more
      } catch (java.util.concurrent.CompletionException e) {
        String message = RedisReply.answered(e);
        if (message == null || RedisReply.isAway(message)) {
          throw new GameQueueException(
              "Redis went away while commits were sent again: " + e.getMessage(), e);
        }
        refuse(commit, message);
        unanswered.remove();
      }
    }
  }

  private static CommitUnknownException unknown(Commit commit, SessionRef lost) {
    List<String> rows =
        commit.parts().stream().flatMap(p -> p.rows().stream()).map(ChangedRow::key).toList();
    return new CommitUnknownException(
        "the reply was lost and session "
            + lost.id()
            + " of "
            + lost.owner()
            + " no longer owns: unknown whether these rows were committed: "
            + rows);
  }

  /**
   * Sends what was taken over and stops; waits up to {@code timeoutMillis}. Returns whether
   * everything was answered.
   */
  public boolean close(long timeoutMillis) {
    stopping = true;
    LockSupport.unpark(thread);
    try {
      thread.join(timeoutMillis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    boolean answered = !thread.isAlive();
    abandoned = true;
    LockSupport.unpark(thread);
    return answered;
  }

  @Override
  public void close() {
    close(TimeUnit.SECONDS.toMillis(10));
  }
}

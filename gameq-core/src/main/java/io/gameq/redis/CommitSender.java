package io.gameq.redis;

import io.gameq.GameQueueException;
import io.gameq.QueueFullException;
import io.gameq.RedisFullException;
import io.gameq.WhenRedisIsFull;
import io.gameq.commit.Commit;
import io.gameq.commit.CommitPart;
import io.gameq.commit.Limits;
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
import java.util.concurrent.CompletionException;
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
 * commit). When the connection breaks, nothing new is sent until it is rebuilt and {@linkplain
 * Healing healed}.
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

  /** Longer than an attempt to connect or a call to MySQL takes to give up. */
  private static final long ABANDON_MILLIS = 11_000;

  private final Parts parts;
  private final byte[] walId;
  private final Admission admission;
  private final Settlement settlement;
  private final Healing healing;
  private final Thread thread;

  private final Queue<Commit> inbox = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Queue<Reply> replies = new ConcurrentLinkedQueue<>();
  private final Map<SessionRef, SessionKeys> sessions = new ConcurrentHashMap<>();
  private volatile boolean parked;
  private volatile boolean stopping;
  private volatile boolean abandoned;
  private volatile boolean ended;

  // Of the sender's thread only.
  private StatefulRedisConnection<byte[], byte[]> redis;
  private final Deque<Sent> inFlight = new ArrayDeque<>();
  private final Deque<Commit> unanswered = new ArrayDeque<>();
  private final IdentityHashMap<SessionRef, Long> reassertedAfter = new IdentityHashMap<>();
  private final Backoff backoff = new Backoff(50, 2_000);
  private long clientId;
  private String runId = "";
  private boolean broken;
  private boolean holding;
  private long mendAtNanos;
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
      Limits limits,
      WhenRedisIsFull whenRedisIsFull,
      DurableSessions durableSessions,
      Executor callbacks) {}

  /** Connects and starts the thread. */
  public CommitSender(Parts parts) {
    this.parts = parts;
    walId = SlotKeys.bytes(parts.wal().id());
    admission = new Admission(parts.limits());
    settlement = new Settlement(admission, parts.wal(), parts.callbacks());
    healing =
        new Healing(
            parts.durableSessions(), parts.slots(), settlement, commit -> group(List.of(commit)));
    redis = connect();
    thread = new Thread(this::run, "gameq-sender");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Takes a commit over; returns at once unless the node is full.
   *
   * @throws QueueFullException when no room came in time, or the sender is closed; then the commit
   *     was not taken
   */
  public void submit(Commit commit) {
    admission.enter(commit.bytes());
    inbox.add(commit);
    if ((stopping || ended)
        && inbox.remove(commit)) { // else the thread has taken it and will answer
      admission.leave(commit.bytes());
      throw new QueueFullException("the queue is closed");
    }
    wake();
  }

  /** Makes a session known, so that it is healed after a reconnect. */
  public void register(SessionRef session) {
    sessions.put(session, new SessionKeys(parts.slots()[session.slot()], session));
  }

  /** Forgets a session that has nothing more to commit. */
  public void unregister(SessionRef session) {
    sessions.remove(session);
  }

  /**
   * Appends rows that a session adopted to the WAL; returns when they are in it, or throws {@link
   * GameQueueException}.
   */
  public void appendAdopted(CommitPart part) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    tasks.add(
        () -> {
          try {
            parts.wal().appendAdopted(part);
            done.complete(null);
          } catch (RuntimeException e) {
            done.completeExceptionally(e);
          }
        });
    wake();
    try {
      done.orTimeout(APPEND_TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
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
      while (!isFinished()) {
        int work = runTasks() + takeReplies() + sendOrMend();
        if (work == 0) {
          rest();
        }
      }
      runTasks();
    } catch (RuntimeException | Error e) {
      LOG.error(
          "the sender of this node stopped: it takes no further commit, and WAL {} is needed for recovery",
          parts.wal().directory(),
          e);
      throw e;
    } finally {
      ended = true;
      giveUp();
      redis.close();
    }
  }

  private int sendOrMend() {
    if (!broken && !holding) {
      return sendNext();
    }
    if (System.nanoTime() - mendAtNanos < 0) {
      return 0;
    }
    return broken ? heal() : sendHeld();
  }

  /**
   * Tells the game of what nobody will answer any more. It keeps no failed mark in the WAL:
   * recovery decides by versions.
   */
  private void giveUp() {
    inFlight.forEach(sent -> unanswered.addAll(sent.group.commits()));
    for (Commit commit; (commit = inbox.poll()) != null; ) {
      unanswered.add(commit);
    }
    unanswered.forEach(
        commit ->
            settlement.dropped(
                commit, Settlement.unknown(commit, "the node closed before Redis answered")));
  }

  private boolean isFinished() {
    return abandoned || (stopping && inbox.isEmpty() && inFlight.isEmpty() && unanswered.isEmpty());
  }

  private void rest() {
    parked = true;
    boolean nothing =
        replies.isEmpty()
            && tasks.isEmpty()
            && (broken || holding || inbox.isEmpty() || inFlight.size() >= MOST_GROUPS_IN_FLIGHT);
    if (nothing && !isFinished()) {
      LockSupport.parkNanos(
          this,
          broken || holding
              ? Math.max(1, mendAtNanos - System.nanoTime())
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
      if (inbox.remove(next) && journal(next)) {
        commits.add(next);
        bytes += next.bytes();
      }
      if (next.isSpanning()) {
        break;
      }
    }
    if (!commits.isEmpty() && sync(commits)) {
      send(group(commits));
    }
    return 1;
  }

  /** Has the WAL survive a power loss before Redis gets the commits, where that is wanted. */
  private boolean sync(List<Commit> commits) {
    try {
      parts.wal().sync();
      return true;
    } catch (WalException e) { // Redis never gets them, but a replay of the WAL may
      commits.forEach(
          commit -> settlement.dropped(commit, Settlement.unknown(commit, e.getMessage())));
      return false;
    }
  }

  /** Gives a commit its versions and appends it to the WAL; false when it failed. */
  private boolean journal(Commit commit) {
    for (CommitPart part : commit.parts()) {
      if (part.session().isLost()) {
        settlement.dropped(commit, Settlement.lost(part.session()));
        return false;
      }
    }
    try {
      commit.setVersion(parts.versions().next(commit.hasMoves() ? 2 : 1));
      parts.wal().append(commit); // before Redis: what Redis may hold, the WAL has
      return true;
    } catch (RuntimeException e) {
      settlement.dropped(commit, e);
      return false;
    }
  }

  private CommitGroup group(List<Commit> commits) {
    return new CommitGroup(
        commits, this::keys, walId, parts.clock().getAsLong() + parts.mergeWindowMillis());
  }

  private SessionKeys keys(CommitPart part) {
    SessionKeys keys = sessions.get(part.session());
    return keys != null
        ? keys
        : new SessionKeys(parts.slots()[part.session().slot()], part.session());
  }

  private void send(CommitGroup group) {
    Sent sent = new Sent(++sentGroups, group);
    inFlight.add(sent);
    try {
      group
          .send(redis)
          .whenComplete(
              (ignored, error) -> {
                replies.add(
                    new Reply(
                        sent,
                        error == null && !group.wasDiscarded() ? null : group.whyFailed(error)));
                wake();
              });
    } catch (RedisException e) {
      replies.add(new Reply(sent, e));
    }
  }

  // --- answer

  private int takeReplies() {
    int done = 0;
    for (Reply reply; (reply = replies.poll()) != null; done++) {
      if (!inFlight.contains(reply.sent)) {
        continue; // of a connection that was given up
      }
      String refusal = reply.error == null ? null : RedisReply.answered(reply.error);
      if (reply.error != null && (refusal == null || RedisReply.isAway(refusal))) {
        breakOff(String.valueOf(reply.error.getMessage()));
      } else {
        inFlight.remove(reply.sent);
        settle(reply.sent, refusal);
      }
    }
    if (inFlight.isEmpty()) {
      reassertedAfter.clear();
    }
    return done;
  }

  /** Gives the connection up: whatever has no answer yet is sent again once healed. */
  private void breakOff(String why) {
    LOG.warn(
        "lost the connection to Redis ({}); {} groups of commits have no answer yet",
        why,
        inFlight.size());
    redis.closeAsync();
    inFlight.forEach(sent -> unanswered.addAll(sent.group.commits()));
    inFlight.clear();
    broken = true;
    holding = false;
    backoff.reset();
    mendAtNanos = System.nanoTime();
  }

  /** Redis has no room, and the policy is to wait: nothing new is sent until it took these. */
  private void hold(List<Commit> commits) {
    unanswered.addAll(commits);
    if (!holding) {
      LOG.warn("Redis reached maxmemory: commits wait until the writers have drained enough");
      holding = true;
      backoff.reset();
      mendAtNanos = System.nanoTime() + backoff.nextNanos();
    }
  }

  private void settle(Sent sent, @Nullable String refusal) {
    List<Commit> commits = sent.group.commits();
    List<Commit> queued = new ArrayList<>(commits.size());
    List<Commit> again = new ArrayList<>();
    List<Commit> held = new ArrayList<>();
    for (int i = 0; i < commits.size(); i++) {
      Commit commit = commits.get(i);
      CommitGroup.Outcome outcome =
          refusal != null ? new CommitGroup.RefusedBy(refusal) : sent.group.outcome(i);
      if (outcome instanceof CommitGroup.NotOwner not) {
        settleNotOwner(sent, commit, not, queued, again);
      } else if (outcome instanceof CommitGroup.RefusedBy refused) {
        if (parts.whenRedisIsFull() == WhenRedisIsFull.WAIT
            && RedisReply.isFull(refused.message())) {
          held.add(commit);
        } else {
          settlement.refused(commit, refused.message());
        }
      } else if (outcome instanceof CommitGroup.TakenInPart taken) {
        settlement.dropped(
            commit, Settlement.unknown(commit, "Redis took only part of it: " + taken.message()));
      } else {
        queued.add(commit);
      }
    }
    settlement.queued(queued);
    if (!held.isEmpty()) {
      hold(held);
    }
    if (!again.isEmpty()) {
      unanswered.addAll(again); // in WAL order: before those in flight
      breakOff("it forgot a session");
    }
  }

  /**
   * A newer session owns: the commit failed. Else Redis has only forgotten the session: it is told
   * again, and what it wrote counts.
   */
  private void settleNotOwner(
      Sent sent, Commit commit, CommitGroup.NotOwner not, List<Commit> queued, List<Commit> again) {
    SessionRef session = not.part().session();
    if (not.isNewer()) {
      session.markLost();
    }
    try {
      boolean owns =
          !session.isLost()
              && (reassertedAfter.getOrDefault(session, 0L) >= sent.number || reassert(session));
      if (!owns) {
        settlement.failed(commit, Settlement.lost(session));
      } else {
        reassertedAfter.put(session, sentGroups);
        (not.written() && again.isEmpty() ? queued : again).add(commit);
      }
    } catch (GameQueueException | RedisException e) {
      LOG.warn("cannot find out yet whether session {} still owns: {}", session, e.getMessage());
      again.add(commit);
    }
  }

  private boolean reassert(SessionRef session) {
    redis.setAutoFlushCommands(true);
    try {
      return healing.reassert(redis, session);
    } finally {
      redis.setAutoFlushCommands(false);
    }
  }

  // --- heal

  private StatefulRedisConnection<byte[], byte[]> connect() {
    StatefulRedisConnection<byte[], byte[]> connection = parts.connector().open();
    try {
      runId = RedisServerCheck.check(connection).runId();
      parts.clock().measure(connection);
      clientId = RedisReply.await(() -> connection.sync().clientId());
      connection.setAutoFlushCommands(false);
      return connection;
    } catch (RuntimeException e) {
      connection.closeAsync();
      throw e;
    }
  }

  private int heal() {
    try {
      redis.closeAsync();
      long givenUp = clientId;
      String server = runId;
      redis = connect();
      redis.setAutoFlushCommands(true);
      if (server.equals(runId)) {
        healing.silence(redis, givenUp);
      }
      healing.run(redis, sessions.keySet(), unanswered);
      redis.setAutoFlushCommands(false);
      broken = false;
      return 1;
    } catch (RedisFullException e) { // sessions are re-asserted; commits without an answer wait
      redis.setAutoFlushCommands(false);
      broken = false;
      hold(List.of());
      return 1;
    } catch (GameQueueException
        | RedisException
        | IllegalStateException e) { // the last: a client that was shut down
      mendAtNanos = System.nanoTime() + backoff.nextNanos();
      LOG.warn("cannot heal yet: {}", e.getMessage());
      return 0;
    }
  }

  /** Sends what waits for room in Redis again, in order. */
  private int sendHeld() {
    redis.setAutoFlushCommands(true);
    try {
      healing.sendAgain(redis, unanswered);
      holding = false;
      LOG.info("all commits that waited are sent again");
      return 1;
    } catch (RedisFullException e) {
      mendAtNanos = System.nanoTime() + backoff.nextNanos();
      return 0;
    } catch (GameQueueException | RedisException e) {
      breakOff(String.valueOf(e.getMessage()));
      return 0;
    } finally {
      redis.setAutoFlushCommands(false);
    }
  }

  /**
   * Sends what was taken over and stops; waits up to {@code timeoutMillis}. Returns whether
   * everything was answered.
   */
  public boolean close(long timeoutMillis) {
    stopping = true;
    LockSupport.unpark(thread);
    try {
      thread.join(Math.max(1, timeoutMillis));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    boolean answered = !thread.isAlive();
    abandoned = true;
    LockSupport.unpark(thread);
    try {
      thread.join(ABANDON_MILLIS); // it uses the WAL, which is closed next
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return answered;
  }

  @Override
  public void close() {
    close(0);
  }
}

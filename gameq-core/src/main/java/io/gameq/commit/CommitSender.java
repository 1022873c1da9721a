package io.gameq.commit;

import io.gameq.GameQueueException;
import io.gameq.Limits;
import io.gameq.QueueFullException;
import io.gameq.RedisFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.WalException;
import io.gameq.WhenRedisIsAway;
import io.gameq.WhenRedisIsFull;
import io.gameq.change.Commit;
import io.gameq.change.CommitPart;
import io.gameq.change.Unsettled;
import io.gameq.change.VersionClock;
import io.gameq.healing.DurableSessions;
import io.gameq.healing.Healing;
import io.gameq.healing.LostHalves;
import io.gameq.healing.WalReplay;
import io.gameq.owner.SessionRef;
import io.gameq.redis.Backoff;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SessionKeys;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.script.NodeHeartbeat;
import io.gameq.wal.WalWriter;
import io.lettuce.core.RedisException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries the commits of a node to Redis in WAL order: version, WAL, group, send, answer. One
 * thread at a time does all of it, see {@link SenderThread}; {@link #submit} and the session
 * methods are called by any.
 *
 * <p>While groups are on their way, new commits gather and travel together in the next one (group
 * commit). When the connection breaks, nothing new is sent until it is rebuilt and {@linkplain
 * Healing healed}; commits made meanwhile are journaled in order, or fail, by policy.
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
  private final WalReplay replay;
  private final Healing healing;
  private final Resending resending;
  private final SenderThread baton;

  private final Queue<Commit> inbox = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Queue<Reply> replies = new ConcurrentLinkedQueue<>();
  private final Map<SessionRef, WalReplay.Session> sessions = new ConcurrentHashMap<>();

  private final RedisAway away;
  private final SenderLink link;

  /** The server, by its run id, that has been told of all sessions and got all that it lost. */
  private volatile @Nullable String healedOn;

  private volatile boolean stopping;
  private volatile boolean abandoned;
  private volatile boolean ended;
  private volatile @Nullable Throwable death;

  /** Asked of the sender's thread, and not answered yet. */
  private final Set<CompletableFuture<?>> asked = ConcurrentHashMap.newKeySet();

  // Of whoever has the baton.
  private RedisConnection redis;
  private final Deque<CommitGroup> inFlight = new ArrayDeque<>();
  private final Deque<Commit> unanswered = new ArrayDeque<>();

  /** Taken from where they waited, and not put anywhere yet. */
  private final List<Commit> inHand = new ArrayList<>();

  /** In the WAL and never sent; newer than what is unanswered. */
  private final Deque<Commit> journaled = new ArrayDeque<>();

  private final Backoff backoff = new Backoff(50, 2_000);
  private boolean broken;
  private boolean holding;
  private long mendAtNanos;

  private record Reply(CommitGroup group, @Nullable Throwable error) {}

  /** What a sender works with. */
  public record Parts(
      PrimaryConnector connector,
      Executor eventLoop,
      RedisClock clock,
      VersionClock versions,
      WalWriter wal,
      SlotKeys[] slots,
      long mergeWindowMillis,
      Limits limits,
      Policy policy,
      DurableSessions durableSessions,
      LostHalves lostHalves,
      NodeHeartbeat heartbeat,
      Runnable healed,
      Consumer<Set<Long>> notReplayed,
      Consumer<Throwable> died) {}

  /** What becomes of commits that Redis cannot take now. */
  public record Policy(WhenRedisIsFull whenFull, WhenRedisIsAway whenAway) {}

  /** Connects and starts the thread. */
  public CommitSender(Parts parts) {
    this.parts = parts;
    walId = SlotKeys.bytes(parts.wal().id());
    admission = new Admission(parts.limits());
    settlement = new Settlement(admission, parts.wal());
    replay = new WalReplay(parts.wal(), this::dueMillis, parts.lostHalves());
    healing = new Healing(parts.durableSessions(), parts.slots(), replay);
    resending = new Resending(healing, settlement, commit -> group(List.of(commit)));
    away = new RedisAway(parts.policy().whenAway(), parts.limits(), admission);
    link = new SenderLink(parts.connector(), parts.clock());
    redis = link.connect();
    healedOn = link.server(); // there is nothing yet that it could have lost
    baton = new SenderThread(parts.eventLoop(), this::turn, "gameq-sender", this::run);
    baton.start();
  }

  /**
   * Takes a commit over; returns at once unless the node is full.
   *
   * @param deadlineNanos until when to wait for room, by System.nanoTime
   * @throws QueueFullException when no room came in time, or the sender is closed; then the commit
   *     was not taken
   * @throws GameQueueException when the sender died; then it was not taken either
   * @throws RedisUnavailableException when Redis is away and the policy is not to wait, or not so
   *     long; then the commit was not taken
   */
  public void submit(Commit commit, long deadlineNanos) {
    if (death != null) {
      throw hasEnded();
    }
    RedisUnavailableException refusal = away.refusal();
    if (refusal != null) {
      throw refusal;
    }
    admission.enter(commit.bytes(), deadlineNanos);
    inbox.add(commit);
    if ((stopping || ended)
        && inbox.remove(commit)) { // else the thread has taken it and will answer
      admission.leave(commit.bytes());
      throw hasEnded();
    }
    refusal = away.fails() ? away.refusal() : null;
    if (refusal != null && inbox.remove(commit)) {
      admission.leave(commit.bytes());
      throw refusal;
    }
    baton.wake();
  }

  private GameQueueException hasEnded() {
    Throwable cause = death;
    return cause == null
        ? new QueueFullException("the queue is closed")
        : new GameQueueException(
            "the sender of this node died (%s): close the node and start it again; what it had is in WAL %s"
                .formatted(cause, parts.wal().directory()),
            cause);
  }

  /** Whether it met an error and will do nothing any more. */
  public boolean hasDied() {
    return death != null;
  }

  /** How often this sender has connected; see {@link #register}. */
  public long connections() {
    return link.connections();
  }

  /**
   * Makes a session known, so that it is healed after a reconnect. Heals at once when there was a
   * reconnect that did not know of it: Redis may have lost the session and what it adopted, and
   * nothing may be committed under it before that is put back.
   *
   * @param connectionsBefore {@link #connections()} before Redis was told of the session
   * @throws GameQueueException when the sender does not answer in time
   */
  public void register(SessionRef session, Unsettled unsettled, long connectionsBefore) {
    SessionKeys keys = new SessionKeys(parts.slots()[session.slot()], session);
    sessions.put(session, new WalReplay.Session(session, keys, unsettled));
    if (link.connections() != connectionsBefore) {
      boolean unused =
          ask(
              () -> {
                heal("session " + session + " was opened while the connection was rebuilt");
                return true;
              },
              "the session cannot be healed");
    }
  }

  /** Forgets a session that has nothing more to commit. */
  public void unregister(SessionRef session) {
    sessions.remove(session);
  }

  /**
   * Appends rows that a session adopted to the WAL; returns the record's sequence when they are in
   * it, or throws {@link GameQueueException}.
   */
  public long appendAdopted(CommitPart part) {
    return ask(() -> parts.wal().appendAdopted(part), "adopted rows could not be appended");
  }

  /** The newest sequence of the WAL; commits with an older one show it by now. */
  public long newestSequence() {
    return ask(() -> parts.wal().newestSequence(), "the WAL does not answer");
  }

  /** Heals as after a reconnect: Redis was seen to have lost something. Returns at once. */
  public void healAgain(String why) {
    tasks.add(() -> heal(why));
    baton.wake();
  }

  /** The number of the term of the primary that it is, or was last, connected to. */
  public long term() {
    return link.term();
  }

  /**
   * Goes over to the primary that counts, if it is connected to another; to be called every second
   * or so. Throws GameQueueException when that cannot be found out.
   */
  public void followTerm() {
    if (healedOn != null && !link.isCurrent()) {
      leave(link.term());
    }
  }

  /**
   * Gives another connection of this node up, if it leads to an older server than the one that this
   * node has healed on: what it reads there would miss what was put back. Throws GameQueueException
   * when that connection has to be opened and cannot.
   */
  public void takeAlong(ControlConnection control) {
    ControlConnection.Connected connected = control.connected();
    String healed = healedOn;
    if (healed != null
        && !healed.equals(connected.runId())
        && hasConnectedSince(connected.sinceNanos())) {
      control.giveUp(connected.redis());
    }
  }

  /**
   * Gives up a connection to a primary that does not count any more, and heals anew, unless that
   * has happened already; returns once nothing more is sent there.
   *
   * @param term the number of that primary's term
   * @throws GameQueueException when the sender does not answer in time
   */
  public void leave(long term) {
    boolean unused =
        ask(
            () -> {
              if (!broken && link.term() == term) {
                breakOff("another Redis primary took over from number " + term);
              }
              return true;
            },
            "the primary that was demoted cannot be left");
  }

  private void heal(String why) {
    replay.distrustMarks(sessions.values());
    if (!broken) {
      breakOff(why);
    }
  }

  /** Whether this node has healed on a server, by its run id, and is still connected to it. */
  public boolean hasHealedOn(String server) {
    return server.equals(healedOn);
  }

  /** Whether it is connected, and began to connect after that moment. */
  public boolean hasConnectedSince(long nanos) {
    return healedOn != null && link.connectedNanos() - nanos > 0;
  }

  /**
   * A newer connection of this node leads to that server: heals there now, if it is the primary.
   * Returns at once.
   */
  public void healSoon(ControlConnection.Connected other) {
    tasks.add(
        () -> {
          if (broken) {
            mendAtNanos = System.nanoTime();
          } else if (!other.runId().equals(link.server())
              && !hasConnectedSince(other.sinceNanos())) {
            breakOff("a newer connection of this node leads to another server");
          }
        });
    baton.wake();
  }

  /** Runs on the sender's thread, and waits. */
  @SuppressWarnings("CollectionUndefinedEquality") // identity is meant
  private <T> T ask(Supplier<T> question, String failure) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    tasks.add(
        () -> {
          try {
            answer.complete(question.get());
          } catch (RuntimeException e) {
            answer.completeExceptionally(e);
          }
        });
    asked.add(answer);
    if (ended) {
      answer.completeExceptionally(hasEnded());
    }
    baton.wake();
    try {
      return answer.orTimeout(APPEND_TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      throw new GameQueueException(failure + ": " + e.getCause(), e);
    } finally {
      asked.remove(answer);
    }
  }

  private void run() {
    try {
      while (!isFinished()) {
        if (isWell()) {
          baton.lend();
        } else if (runTasks() + takeReplies() + sendOrMend() == 0) {
          rest();
        }
      }
      runTasks();
    } catch (RuntimeException | Error e) {
      death = e;
      parts.died().accept(e);
      LOG.error(
          "the sender of this node died: it takes no further commit, and WAL {} is needed for"
              + " recovery",
          parts.wal().directory(),
          e);
    } finally {
      ended = true;
      asked.forEach(answer -> answer.completeExceptionally(hasEnded()));
      giveUp();
      redis.close();
    }
  }

  /** Nothing calls for an answer that has to be waited for. */
  private boolean isWell() {
    return !broken && !holding && !stopping;
  }

  /** All there is to do on the event loop; false when the thread has to go on. */
  private boolean turn() {
    if (!redis.isOpen()) {
      breakOff("it is closed"); // with nothing on its way no reply tells
    }
    while (isWell()) {
      int work = runTasks() + takeReplies();
      if (isWell()) {
        work += sendNext();
      }
      if (work == 0) {
        return true;
      }
    }
    return false;
  }

  private int sendOrMend() {
    if (!broken && !redis.isOpen()) {
      breakOff("it is closed"); // with nothing on its way no reply tells
    }
    if (!broken && !holding) {
      return sendNext();
    }
    int work = broken ? journalWaiting() : 0;
    if (System.nanoTime() - mendAtNanos < 0) {
      return work;
    }
    return work + (broken ? heal() : sendHeld());
  }

  /**
   * Tells the game of what nobody will answer any more. It keeps no failed mark in the WAL:
   * recovery decides by versions.
   */
  private void giveUp() {
    inFlight.forEach(group -> unanswered.addAll(group.commits()));
    unanswered.addAll(inHand);
    unanswered.addAll(journaled);
    for (Commit commit; (commit = inbox.poll()) != null; ) {
      unanswered.add(commit);
    }
    unanswered.forEach(this::giveUp);
  }

  private void giveUp(Commit commit) {
    try {
      settlement.dropped(
          commit,
          Settlement.unknown(
              commit,
              death == null
                  ? "the node closed before Redis answered"
                  : "the sender of this node died before Redis answered"));
    } catch (RuntimeException | Error e) { // the others are to be told all the same
      LOG.warn("a commit that nobody will answer could not be told so", e);
    }
  }

  private boolean isFinished() {
    return abandoned
        || (stopping
            && inbox.isEmpty()
            && journaled.isEmpty()
            && inFlight.isEmpty()
            && unanswered.isEmpty());
  }

  private void rest() {
    baton.rest(
        () ->
            replies.isEmpty()
                && tasks.isEmpty()
                && (broken ? inbox.isEmpty() : holding || isIdle())
                && !isFinished(),
        broken || holding ? mendAtNanos - System.nanoTime() : TimeUnit.MILLISECONDS.toNanos(100));
  }

  private boolean isIdle() {
    return (inbox.isEmpty() && journaled.isEmpty()) || inFlight.size() >= MOST_GROUPS_IN_FLIGHT;
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
    if (isIdle()) {
      return 0;
    }
    List<Commit> commits = new ArrayList<>();
    int bytes = 0;
    for (Commit next;
        (next = journaled.isEmpty() ? inbox.peek() : journaled.peek()) != null
            && commits.size() < MOST_GROUP_COMMITS
            && bytes < MOST_GROUP_BYTES; ) {
      if (next.isSpanning() && !commits.isEmpty()) {
        break;
      }
      if (journaled.isEmpty() ? takeFromInbox(next) : takeJournaled(next)) {
        commits.add(next);
        bytes += next.bytes();
      }
      if (next.isSpanning()) {
        break;
      }
    }
    if (isForced(commits)) {
      send(group(commits));
    }
    inHand.clear();
    return 1;
  }

  private boolean takeFromInbox(Commit next) {
    if (!inbox.remove(next)) {
      return false;
    }
    inHand.add(next);
    return journal(next);
  }

  /** While Redis is away: what comes in goes into the WAL, or fails, by policy. */
  private int journalWaiting() {
    int done = 0;
    List<Commit> appended = new ArrayList<>();
    for (Commit next;
        appended.size() < MOST_GROUP_COMMITS && (next = inbox.poll()) != null;
        done++) {
      inHand.add(next);
      if (away.fails()) {
        settlement.dropped(
            next, new RedisUnavailableException("Redis went away: the commit was not sent"));
      } else if (journal(next)) {
        appended.add(next);
      }
    }
    if (isForced(appended)) {
      journaled.addAll(appended);
    }
    inHand.clear();
    return done;
  }

  /** Has the WAL survive a power loss, if it is to; false when there is nothing to send then. */
  private boolean isForced(List<Commit> appended) {
    if (appended.isEmpty()) {
      return false;
    }
    try {
      parts.wal().sync();
    } catch (WalException e) { // Redis never gets them, but a replay of the WAL may
      appended.forEach(
          commit ->
              settlement.dropped(
                  commit, Settlement.unknown(commit, String.valueOf(e.getMessage()))));
      return false;
    }
    appended.forEach(Commit::journaled);
    return true;
  }

  /** False when its session was lost since it was journaled. */
  private boolean takeJournaled(Commit next) {
    inHand.add(journaled.remove());
    SessionRef lost = next.lostSession();
    if (lost != null) {
      settlement.failed(next, Settlement.lost(lost));
    }
    return lost == null;
  }

  /** Gives a commit its versions and appends it to the WAL; false when it failed. */
  private boolean journal(Commit commit) {
    SessionRef lost = commit.lostSession();
    if (lost != null) {
      settlement.dropped(commit, Settlement.lost(lost));
      return false;
    }
    try {
      commit.setVersion(parts.versions().next(1));
      parts.wal().append(commit); // before Redis: what Redis may hold, the WAL has
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

  private CommitGroup group(List<Commit> commits) {
    return new CommitGroup(commits, this::keys, walId, dueMillis());
  }

  private long dueMillis() {
    return parts.clock().getAsLong() + parts.mergeWindowMillis();
  }

  private SessionKeys keys(CommitPart part) {
    WalReplay.Session known = sessions.get(part.session());
    return known != null
        ? known.keys()
        : new SessionKeys(parts.slots()[part.session().slot()], part.session());
  }

  private void send(CommitGroup group) {
    inFlight.add(group);
    try {
      group
          .send(redis)
          .whenComplete(
              (ignored, error) -> {
                replies.add(
                    new Reply(
                        group,
                        error == null && !group.wasDiscarded() ? null : group.whyFailed(error)));
                baton.wake();
              });
    } catch (RedisException e) {
      replies.add(new Reply(group, e));
    }
  }

  // --- answer

  private int takeReplies() {
    int done = 0;
    for (Reply reply; (reply = replies.poll()) != null; done++) {
      if (!inFlight.contains(reply.group)) {
        continue; // of a connection that was given up
      }
      String refusal = reply.error == null ? null : RedisReply.answered(reply.error);
      if (reply.error != null && (refusal == null || RedisReply.isAway(refusal))) {
        breakOff(String.valueOf(reply.error.getMessage()));
      } else {
        inFlight.remove(reply.group);
        settle(reply.group, refusal);
      }
    }
    return done;
  }

  /** Gives the connection up: whatever has no answer yet is sent again once healed. */
  private void breakOff(String why) {
    LOG.warn(
        "lost the connection to Redis ({}); {} groups of commits have no answer yet",
        why,
        inFlight.size());
    redis.closeSoon();
    inFlight.forEach(group -> unanswered.addAll(group.commits()));
    inFlight.clear();
    broken = true;
    holding = false;
    backoff.reset();
    mendAtNanos = System.nanoTime();
    healedOn = null;
    away.begin();
  }

  private void mended() {
    broken = false;
    away.end();
    healedOn = link.server();
    parts.healed().run();
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

  private void settle(CommitGroup group, @Nullable String refusal) {
    List<Commit> commits = group.commits();
    inHand.addAll(commits);
    List<Commit> queued = new ArrayList<>(commits.size());
    List<Commit> again = new ArrayList<>();
    List<Commit> held = new ArrayList<>();
    List<Settlement.Failure> failed = new ArrayList<>();
    for (int i = 0; i < commits.size(); i++) {
      Commit commit = commits.get(i);
      CommitGroup.Outcome outcome =
          refusal != null ? new CommitGroup.RefusedBy(refusal) : group.outcome(i);
      if (outcome instanceof CommitGroup.NotOwner not) {
        SessionRef session = not.part().session();
        if (not.isNewer()) {
          session.markLost();
        }
        if (session.isLost()) {
          failed.add(new Settlement.Failure(commit, Settlement.lost(session)));
        } else {
          again.add(commit);
        }
      } else if (outcome instanceof CommitGroup.RefusedBy refused) {
        if (parts.policy().whenFull() == WhenRedisIsFull.WAIT
            && RedisReply.isFull(refused.message())) {
          held.add(commit);
        } else {
          failed.add(Settlement.refused(commit, refused.message()));
        }
      } else if (outcome instanceof CommitGroup.TakenInPart taken) {
        settlement.dropped(
            commit, Settlement.unknown(commit, "Redis took only part of it: " + taken.message()));
      } else {
        queued.add(commit);
      }
    }
    settlement.queued(queued);
    settlement.failed(failed);
    if (!held.isEmpty()) {
      hold(held);
    }
    if (!again.isEmpty()) {
      unanswered.addAll(again); // in WAL order: before those in flight
      replay.distrustMarks(
          sessions.values()); // what else it forgot, the marks of commits since then do not tell
      breakOff("it forgot a session");
    }
    inHand.clear();
  }

  // --- heal

  private int heal() {
    try {
      redis.closeSoon();
      redis = link.connect();
      link.silenceOthers(redis);
      parts.heartbeat().beatFirst(redis, link.server());
      Set<Long> givenUp = healing.run(redis, sessions.values());
      if (!givenUp.isEmpty()) {
        parts.notReplayed().accept(givenUp);
      }
      int again = unanswered.size();
      resending.sendAll(redis, unanswered);
      LOG.info("{} commits without an answer sent again", again);
      mended();
      return 1;
    } catch (RedisFullException e) { // sessions are re-asserted; commits without an answer wait
      mended();
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
    try {
      resending.sendAll(redis, unanswered);
      holding = false;
      LOG.info("all commits that waited are sent again");
      return 1;
    } catch (RedisFullException e) {
      mendAtNanos = System.nanoTime() + backoff.nextNanos();
      return 0;
    } catch (GameQueueException | RedisException e) {
      breakOff(String.valueOf(e.getMessage()));
      return 0;
    }
  }

  /**
   * Sends what was taken over and stops; waits up to {@code timeoutMillis}. Returns whether
   * everything was answered.
   */
  public boolean close(long timeoutMillis) {
    stopping = true;
    baton.wake();
    boolean answered = baton.join(timeoutMillis) && death == null;
    abandoned = true;
    boolean unused = baton.join(ABANDON_MILLIS); // it uses the WAL, which is closed next
    return answered;
  }

  @Override
  public void close() {
    close(0);
  }
}

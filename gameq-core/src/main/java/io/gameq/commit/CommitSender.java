package io.gameq.commit;

import io.gameq.ClosedException;
import io.gameq.GameQueueException;
import io.gameq.Limits;
import io.gameq.RedisUnavailableException;
import io.gameq.WhenRedisIsAway;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.Unsettled;
import io.gameq.commit.SendLoop.SenderSessions;
import io.gameq.commit.SenderHealing.ResentCommits;
import io.gameq.commit.SenderLoop.AbandonedCommits;
import io.gameq.commit.SenderMessages.SentCommits;
import io.gameq.healing.DurableTruth;
import io.gameq.owner.SessionRef;
import io.gameq.redis.ControlConnection;
import io.gameq.wal.WalWriter;
import java.nio.file.Path;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries the commits of a node to Redis in WAL order: version, WAL, group, send, answer. This is
 * what other threads call; the work itself is done by one thread at a time, see {@link SenderLoop}
 * and {@link SenderThread}. Thread-safe.
 *
 * <p>When the connection breaks, nothing new is sent until it is rebuilt and {@linkplain
 * HealingStep healed}; commits made meanwhile are journaled in order, or fail, by policy.
 *
 * <p>A process kill loses what is in memory here; the WAL has everything that was sent.
 */
public final class CommitSender implements AutoCloseable {
  /** Longer than an attempt to connect or a call to MySQL takes to give up. */
  private static final long ABANDON_MILLIS = 11_000;

  private final WalWriter wal;
  private final RecentMessages recent;
  private final SenderEnd end;
  private final Admission admission;
  private final WaitingCommits waiting;
  private final SenderSessions sessions;
  private final SenderLink link;
  private final MendLoop mend;
  private final SenderThread thread;
  private final SenderTasks tasks;

  /** Connects and starts the thread. */
  public CommitSender(
      SenderConfig config,
      SenderRedis redis,
      SenderWal to,
      DurableTruth truth,
      SenderEvents events) {
    wal = to.wal();
    end = new SenderEnd(wal.directory(), events::died);
    admission = new Admission(config.limits());
    recent = to.recent();
    RedisAway away = new RedisAway(config.whenAway(), config.limits(), admission, recent);
    Settlement settlement = new Settlement(admission, wal, events.counts(), recent);
    waiting = new WaitingCommits(admission, away, end);
    sessions = new SenderSessions(config, wal.id(), recent);
    link = new SenderLink(redis);
    SentCommits sent = new SentCommits();
    mend =
        new MendLoop(
            link,
            away,
            sent,
            new SenderHealing(
                config,
                wal,
                truth,
                new ResentCommits(sent, sessions, settlement),
                new SenderMessages(recent, sessions, sent)),
            events);
    OutgoingCommits outgoing =
        new OutgoingCommits(
            waiting,
            new CommitJournal(to, settlement, events.counts()),
            settlement,
            sent,
            away.fails(),
            config.whenFull());
    GroupSettlement groups = new GroupSettlement(settlement, sent, mend, config.whenFull());
    SendLoop send = new SendLoop(outgoing, sessions, sent, groups, mend);
    tasks = new SenderTasks(end, this::wake);
    SenderLoop loop =
        new SenderLoop(
            tasks, send, mend, new AbandonedCommits(outgoing, sent, groups, settlement, end), end);
    thread =
        new SenderThread(redis.eventLoop(), loop::workWithoutWaiting, "gameq-sender", loop::run);
    send.wakes(thread::wake);
    thread.start();
  }

  private void wake() {
    thread.wake();
  }

  /**
   * Takes a commit over; returns at once unless the node is full.
   *
   * @param deadlineNanos until when to wait for room, by System.nanoTime
   * @throws io.gameq.QueueFullException when no room came in time; then the commit was not taken
   * @throws io.gameq.ClosedException when the sender is closed; then it was not taken either
   * @throws io.gameq.GameQueueException when the sender died; then it was not taken either
   * @throws io.gameq.RedisUnavailableException when Redis is away and the policy is not to wait, or
   *     not so long; then the commit was not taken
   */
  public void submit(Commit commit, long deadlineNanos) {
    waiting.add(commit, deadlineNanos);
    thread.wake();
  }

  /** Whether it has sent messages that Redis may yet lose, and the WAL is to keep. */
  public boolean hasRecentMessages() {
    return recent.keptFrom() != Long.MAX_VALUE;
  }

  /** Whether it met an error and will do nothing any more. */
  public boolean hasDied() {
    return end.death() != null;
  }

  /** Commits that were taken over and have no answer of Redis. */
  public long waiting() {
    return admission.commits();
  }

  /** How much of the room for these is in use, 0 to 1. */
  public double roomUsed() {
    return admission.used();
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
   * @throws io.gameq.GameQueueException when the sender does not answer in time
   */
  public void register(SessionRef session, Unsettled unsettled, long connectionsBefore) {
    sessions.add(session, unsettled);
    if (link.connections() != connectionsBefore) {
      boolean unused =
          tasks.ask(
              () -> {
                mend.healAgain(
                    "session " + session + " was opened while the connection was rebuilt");
                return true;
              },
              "the session cannot be healed");
    }
  }

  /** Makes an inbox known, so that it is healed after a reconnect: Redis need not know of it. */
  public void registerInbox(SessionRef session, Unsettled unsettled) {
    sessions.add(session, unsettled);
  }

  /** Forgets a session that has nothing more to commit. */
  public void unregister(SessionRef session) {
    sessions.remove(session);
  }

  /**
   * Appends rows that a session adopted to the WAL; returns the record's sequence when they are in
   * it, or throws {@link io.gameq.GameQueueException}.
   */
  public long appendAdopted(CommitPart part) {
    return tasks.ask(() -> wal.appendAdopted(part), "adopted rows could not be appended");
  }

  /** The newest sequence of the WAL; commits with an older one show it by now. */
  public long newestSequence() {
    return tasks.ask(wal::newestSequence, "the WAL does not answer");
  }

  /** Heals as after a reconnect: Redis was seen to have lost something. Returns at once. */
  public void healAgain(String why) {
    tasks.add(() -> mend.healAgain(why));
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
    if (mend.healedOn() != null && !link.isCurrent()) {
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
    String healed = mend.healedOn();
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
   * @throws io.gameq.GameQueueException when the sender does not answer in time
   */
  public void leave(long term) {
    boolean unused =
        tasks.ask(
            () -> {
              if (!mend.isBroken() && link.term() == term) {
                mend.breakOff("another Redis primary took over from number " + term);
              }
              return true;
            },
            "the primary that was demoted cannot be left");
  }

  /** Whether it is connected to a server that has all that this node knows. */
  public boolean isHealed() {
    return mend.healedOn() != null;
  }

  /**
   * When, by System.nanoTime, this node last came to the end of a healing on another server than
   * before, or of one that put messages back: other nodes may be putting theirs back as well. 0 for
   * never.
   */
  public long healedElsewhereNanos() {
    return mend.healedElsewhereNanos();
  }

  /** Whether this node has healed on a server, by its run id, and is still connected to it. */
  public boolean hasHealedOn(String server) {
    return server.equals(mend.healedOn());
  }

  /** Whether it is connected, and began to connect after that moment. */
  public boolean hasConnectedSince(long nanos) {
    return mend.healedOn() != null && link.connectedNanos() - nanos > 0;
  }

  /**
   * A newer connection of this node leads to that server: heals there now, if it is the primary.
   * Returns at once.
   */
  public void healSoon(ControlConnection.Connected other) {
    tasks.add(
        () -> {
          if (mend.isBroken()) {
            mend.mendNow();
          } else if (!other.runId().equals(link.server())
              && !hasConnectedSince(other.sinceNanos())) {
            mend.breakOff("a newer connection of this node leads to another server");
          }
        });
  }

  /**
   * Sends what was taken over and stops; waits up to {@code timeoutMillis}. Returns whether
   * everything was answered.
   */
  public boolean close(long timeoutMillis) {
    end.stop();
    thread.wake();
    boolean answered = thread.join(timeoutMillis) && end.death() == null;
    end.abandon();
    boolean unused = thread.join(ABANDON_MILLIS); // it uses the WAL, which is closed next
    return answered;
  }

  @Override
  public void close() {
    close(0);
  }

  /**
   * Commits that games have handed in and the sender has not taken yet, and the room for them.
   * Thread-safe.
   */
  static final class WaitingCommits {
    private final Admission admission;
    private final RedisAway away;
    private final SenderEnd end;
    private final Queue<Commit> queue = new ConcurrentLinkedQueue<>();

    WaitingCommits(Admission admission, RedisAway away, SenderEnd end) {
      this.admission = admission;
      this.away = away;
      this.end = end;
    }

    /**
     * Takes a commit in; see {@link CommitSender#submit}.
     *
     * @throws io.gameq.QueueFullException when no room came in time
     * @throws io.gameq.ClosedException when the sender is closed
     * @throws RedisUnavailableException when Redis is away, and the policy is not to wait for it
     */
    void add(Commit commit, long deadlineNanos) {
      if (end.death() != null) {
        throw end.whyNot();
      }
      RedisUnavailableException refusal = away.refusal();
      if (refusal != null) {
        throw refusal;
      }
      admission.enter(commit.bytes(), deadlineNanos);
      queue.add(commit);
      if ((end.isStopping() || end.hasEnded())
          && queue.remove(commit)) { // else the sender has taken it and will answer
        admission.leave(commit.bytes());
        throw end.whyNot();
      }
      refusal = away.fails() ? away.refusal() : null;
      if (refusal != null && queue.remove(commit)) {
        admission.leave(commit.bytes());
        throw refusal;
      }
    }

    /** By the sender; the game takes commits back as well. */
    Queue<Commit> queue() {
      return queue;
    }

    boolean isEmpty() {
      return queue.isEmpty();
    }
  }

  /**
   * Whether Redis is away, and whether commits are taken meanwhile: journaled for a limited time,
   * or refused at once. Thread-safe.
   */
  static final class RedisAway {
    private final WhenRedisIsAway policy;
    private final Limits limits;
    private final Admission admission;
    private final RecentMessages recent;
    private volatile @Nullable Long sinceNanos;

    RedisAway(WhenRedisIsAway policy, Limits limits, Admission admission, RecentMessages recent) {
      this.policy = policy;
      this.limits = limits;
      this.admission = admission;
      this.recent = recent;
    }

    void begin() {
      sinceNanos = System.nanoTime();
      recent.away();
      admission.journaling(!fails());
    }

    void end() {
      sinceNanos = null;
      recent.healed();
      admission.journaling(false);
    }

    /** Whether commits fail at once while Redis is away. */
    boolean fails() {
      return policy == WhenRedisIsAway.FAIL;
    }

    /** Why a commit is not taken now; null when it is. */
    @Nullable RedisUnavailableException refusal() {
      Long since = sinceNanos;
      if (since == null) {
        return null;
      }
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
      if (fails()) {
        return new RedisUnavailableException(
            "Redis has been away for %s ms: the commit was not taken (whenRedisIsAway is FAIL)"
                .formatted(millis));
      }
      return millis <= limits.journalMillis()
          ? null
          : new RedisUnavailableException(
              ("Redis has been away for %s ms, longer than the %s ms that commits are"
                      + " journaled: the commit was not taken")
                  .formatted(millis, limits.journalMillis()));
    }
  }

  /**
   * What other threads have the sender do between two groups of commits. Thread-safe; {@link
   * #runAll} is called by the sender.
   */
  static final class SenderTasks {
    private static final long ANSWER_TIMEOUT_SECONDS = 30;

    private final SenderEnd end;
    private final Runnable wake;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

    /** Questions that are not answered yet. */
    private final Set<CompletableFuture<?>> asked = ConcurrentHashMap.newKeySet();

    SenderTasks(SenderEnd end, Runnable wake) {
      this.end = end;
      this.wake = wake;
    }

    /** Has a task run soon; returns at once. */
    void add(Runnable task) {
      tasks.add(task);
      wake.run();
    }

    /**
     * Has a question answered, and waits for that.
     *
     * @param failure what is said when there is no answer
     * @throws GameQueueException when there is none in time, or the question threw
     */
    @SuppressWarnings("CollectionUndefinedEquality") // identity is meant
    <T> T ask(Supplier<T> question, String failure) {
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
      if (end.hasEnded()) {
        answer.completeExceptionally(end.whyNot());
      }
      wake.run();
      try {
        return answer.orTimeout(ANSWER_TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
      } catch (CompletionException e) {
        throw new GameQueueException(failure + ": " + e.getCause(), e);
      } finally {
        asked.remove(answer);
      }
    }

    boolean isEmpty() {
      return tasks.isEmpty();
    }

    /** Runs what waits; returns how much that was. */
    int runAll() {
      int done = 0;
      for (Runnable task; (task = tasks.poll()) != null; done++) {
        task.run();
      }
      return done;
    }

    /** Answers whoever still waits: the sender has ended. */
    void failAll() {
      asked.forEach(answer -> answer.completeExceptionally(end.whyNot()));
    }
  }

  /** Whether a sender is to end or has ended, and what it died of. Thread-safe. */
  static final class SenderEnd {
    private static final Logger LOG = LoggerFactory.getLogger(SenderEnd.class);

    private final Path wal;
    private final Consumer<Throwable> tell;
    private volatile boolean stopping;
    private volatile boolean abandoned;
    private volatile boolean ended;
    private volatile @Nullable Throwable death;

    /**
     * Of a sender that goes on.
     *
     * @param wal named when it dies
     * @param tell is told what it died of
     */
    SenderEnd(Path wal, Consumer<Throwable> tell) {
      this.wal = wal;
      this.tell = tell;
    }

    /** Nothing new is taken; what was taken is still sent. */
    void stop() {
      stopping = true;
    }

    boolean isStopping() {
      return stopping;
    }

    /** Nothing is sent any more. */
    void abandon() {
      abandoned = true;
    }

    boolean isAbandoned() {
      return abandoned;
    }

    /** It met an error that nothing helps against. */
    void died(Throwable cause) {
      death = cause;
      tell.accept(cause);
      LOG.error(
          "the sender of this node died: it takes no further commit, and WAL {} is needed for"
              + " recovery",
          wal,
          cause);
    }

    /** What it died of; null when it did not. */
    @Nullable Throwable death() {
      return death;
    }

    /** Its thread does nothing any more. */
    void ended() {
      ended = true;
    }

    boolean hasEnded() {
      return ended;
    }

    /** Why nothing is taken. */
    GameQueueException whyNot() {
      Throwable cause = death;
      return cause == null
          ? new ClosedException("the queue is closed: open a GameQueue anew")
          : new GameQueueException(
              ("the sender of this node died (%s): close the node and start it again; what"
                      + " it had is in WAL %s")
                  .formatted(cause, wal),
              cause);
    }
  }
}

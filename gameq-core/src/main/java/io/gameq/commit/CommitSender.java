package io.gameq.commit;

import io.gameq.GameQueueException;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.Unsettled;
import io.gameq.change.VersionClock;
import io.gameq.config.GameQueueConfig;
import io.gameq.durability.NodeSessions;
import io.gameq.healing.DurableTruth;
import io.gameq.healing.HealingStep.HeldSession;
import io.gameq.healing.HealingStep.SessionName;
import io.gameq.owner.SessionRef;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.SlotKeys.SessionKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import io.gameq.redis.script.NodeSigns.NodeHeartbeat;
import io.gameq.wal.WalWriter;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Carries the commits of a node to Redis in WAL order: version, WAL, group, send, answer. This is
 * what other threads call; {@link SenderLoop} does the work, on one thread at a time. Thread-safe.
 *
 * <p>When the connection breaks, nothing new is sent until it is rebuilt and {@linkplain
 * SenderHealing healed}; commits made meanwhile are journaled in order, or fail, by policy.
 *
 * <p>A process kill loses what is in memory here; the WAL has everything that was sent.
 */
public final class CommitSender implements AutoCloseable {
  /** Longer than an attempt to connect or a call to MySQL takes to give up. */
  private static final long ABANDON_MILLIS = 11_000;

  private static final long ANSWER_TIMEOUT_SECONDS = 30;

  private final WalWriter wal;
  private final RecentMessages recent;
  private final CommitQueue queue;
  private final SenderSessions sessions;
  private final SenderLink link;
  private final SenderLoop loop;

  /**
   * What a sender reaches Redis with.
   *
   * @param slots all of the namespace
   * @param primary makes connections that nobody else uses
   * @param eventLoop the one thread on which those connections are served
   * @param clock measured anew on every connection
   * @param heartbeat given on every connection before anything else is told there
   */
  public record Servers(
      SlotKeys[] slots,
      PrimaryConnector primary,
      Executor eventLoop,
      RedisClock clock,
      NodeHeartbeat heartbeat) {}

  /**
   * Connects and starts the thread.
   *
   * @param versions gives commits their versions
   * @param ofNode is told of WAL records that Redis lost and that are not replayed
   * @param onHealed runs on the sender's thread after each healing: it must be quick
   * @param onDeath is told, on the sender's thread, of an error that nothing helps against
   */
  public CommitSender(
      GameQueueConfig config,
      Servers servers,
      WalWriter wal,
      VersionClock versions,
      NodeSessions ofNode,
      DurableTruth truth,
      Runnable onHealed,
      Consumer<Throwable> onDeath) {
    this.wal = wal;
    recent = new RecentMessages(config.messageKeep());
    queue = new CommitQueue(config.limits(), config.whenRedisIsAway(), wal.directory(), onDeath);
    long windowMillis = config.mergeWindow().toMillis();
    sessions =
        new SenderSessions(
            servers.slots(), () -> servers.clock().getAsLong() + windowMillis, wal.id(), recent);
    link = new SenderLink(servers);
    Settlement settlement = new Settlement(queue, wal, ofNode.counts(), recent);
    loop =
        new SenderLoop(
            queue,
            link,
            sessions,
            settlement,
            new SenderHealing(wal, truth, sessions, settlement, recent, ofNode),
            wal,
            versions,
            config.whenRedisIsFull(),
            onHealed,
            servers.eventLoop());
    loop.thread.start();
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
    queue.add(commit, deadlineNanos);
    loop.thread.wake();
  }

  private void add(Runnable task) {
    queue.addTask(task);
    loop.thread.wake();
  }

  /**
   * Has a question answered on the sender's thread, and waits for that.
   *
   * @param failure what is said when there is no answer
   * @throws GameQueueException when there is none in time, or the question threw
   */
  private <T> T ask(Supplier<T> question, String failure) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    queue.addTask(
        () -> {
          try {
            answer.complete(question.get());
          } catch (RuntimeException e) {
            answer.completeExceptionally(e);
          }
        });
    queue.asked(answer);
    loop.thread.wake();
    try {
      return answer.orTimeout(ANSWER_TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      throw new GameQueueException(failure + ": " + e.getCause(), e);
    } finally {
      queue.answered(answer);
    }
  }

  /** The messages that it has sent and that Redis may yet lose: the WAL is to keep them. */
  public RecentMessages recent() {
    return recent;
  }

  /** Whether it met an error and will do nothing any more. */
  public boolean hasDied() {
    return queue.death() != null;
  }

  /** Commits that were taken over and have no answer of Redis. */
  public long waiting() {
    return queue.commits();
  }

  /** How much of the room for these is in use, 0 to 1. */
  public double roomUsed() {
    return queue.roomUsed();
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
          ask(
              () -> {
                loop.healAgain(
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
    return ask(() -> wal.appendAdopted(part), "adopted rows could not be appended");
  }

  /** The newest sequence of the WAL; commits with an older one show it by now. */
  public long newestSequence() {
    return ask(wal::newestSequence, "the WAL does not answer");
  }

  /** Heals as after a reconnect: Redis was seen to have lost something. Returns at once. */
  public void healAgain(String why) {
    add(() -> loop.healAgain(why));
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
    if (isHealed() && !link.isCurrent()) {
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
    String healed = loop.healedOn();
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
        ask(
            () -> {
              if (!loop.isBroken() && link.term() == term) {
                loop.disconnect("another Redis primary took over from number " + term);
              }
              return true;
            },
            "the primary that was demoted cannot be left");
  }

  /** Whether it is connected to a server that has all that this node knows. */
  public boolean isHealed() {
    return loop.healedOn() != null;
  }

  /**
   * When, by System.nanoTime, this node last came to the end of a healing on another server than
   * before, or of one that put messages back: other nodes may be putting theirs back as well. 0 for
   * never.
   */
  public long healedElsewhereNanos() {
    return loop.healedElsewhereNanos();
  }

  /** Whether this node has healed on a server, by its run id, and is still connected to it. */
  public boolean hasHealedOn(String server) {
    return server.equals(loop.healedOn());
  }

  /** Whether it is connected, and began to connect after that moment. */
  public boolean hasConnectedSince(long nanos) {
    return isHealed() && link.connectedNanos() - nanos > 0;
  }

  /**
   * A newer connection of this node leads to that server: heals there now, if it is the primary.
   * Returns at once.
   */
  public void healSoon(ControlConnection.Connected other) {
    add(
        () -> {
          if (loop.isBroken()) {
            loop.retryNow();
          } else if (!other.runId().equals(link.server())
              && !hasConnectedSince(other.sinceNanos())) {
            loop.disconnect("a newer connection of this node leads to another server");
          }
        });
  }

  /**
   * Sends what was taken over and stops; waits up to {@code timeoutMillis}. Returns whether
   * everything was answered.
   */
  public boolean close(long timeoutMillis) {
    queue.stop();
    loop.thread.wake();
    boolean answered = loop.thread.join(timeoutMillis) && !hasDied();
    queue.abandon();
    boolean unused = loop.thread.join(ABANDON_MILLIS); // it uses the WAL, which is closed next
    return answered;
  }

  @Override
  public void close() {
    close(0);
  }

  /**
   * The sessions that a node holds, and groups of commits under their keys. Thread-safe, but groups
   * are made by the sender's thread.
   */
  static final class SenderSessions {
    /** Of lost ones that were let go: they are few, and matter for minutes. */
    private static final int MOST_LOST = 10_000;

    final SlotKeys[] slots;

    /** When what is committed now is due, Unix ms by the clock of Redis. */
    final LongSupplier dueMillis;

    final RecentMessages recent;

    /** What each call expects of Redis. */
    final SlotMarks marks;

    private final byte[] walId;
    private final Map<SessionRef, HeldSession> sessions = new ConcurrentHashMap<>();

    /** In the order in which they were let go. */
    private final Set<SessionName> lost = Collections.synchronizedSet(new LinkedHashSet<>());

    SenderSessions(SlotKeys[] slots, LongSupplier dueMillis, String walId, RecentMessages recent) {
      this.slots = slots;
      this.dueMillis = dueMillis;
      this.walId = SlotKeys.bytes(walId);
      this.recent = recent;
      this.marks = new SlotMarks(slots.length);
    }

    void add(SessionRef session, Unsettled unsettled) {
      SessionKeys keys = newKeys(session);
      session.attach(keys);
      sessions.put(session, new HeldSession(session, keys, unsettled));
    }

    void remove(SessionRef session) {
      if (session.isLost()) {
        synchronized (lost) {
          lost.add(SessionName.of(session));
          if (lost.size() > MOST_LOST) {
            lost.remove(lost.iterator().next());
          }
        }
      }
      sessions.remove(session);
    }

    /** Whether a session that is held no more was lost. */
    boolean wasLost(SessionName session) {
      return lost.contains(session);
    }

    /** All of them, now and later. */
    Collection<HeldSession> all() {
      return sessions.values();
    }

    /** Commits that travel together, for the first time; {@code overtakes}: older ones wait. */
    CommitGroup group(List<Commit> commits, boolean overtakes) {
      return CommitGroup.of(commits, terms(commits.get(0), overtakes));
    }

    /** A commit that is sent again. */
    CommitGroup again(Commit commit) {
      return CommitGroup.again(commit, terms(commit, false));
    }

    private CommitGroup.Terms terms(Commit first, boolean overtakes) {
      return new CommitGroup.Terms(
          this::keys,
          slots,
          walId,
          dueMillis.getAsLong(),
          recent.openUpTo(first.sequence()),
          marks,
          overtakes);
    }

    private SessionKeys keys(CommitPart part) {
      return part.session().attachment() instanceof SessionKeys keys
          ? keys
          : newKeys(part.session());
    }

    private SessionKeys newKeys(SessionRef session) {
      return new SessionKeys(slots[session.slot()], session);
    }
  }
}

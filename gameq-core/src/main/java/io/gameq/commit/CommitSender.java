package io.gameq.commit;

import io.gameq.ClosedException;
import io.gameq.GameQueueException;
import io.gameq.RedisFullException;
import io.gameq.RedisUnavailableException;
import io.gameq.WalException;
import io.gameq.agent.RepeatedWarnings;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.Unsettled;
import io.gameq.change.VersionClock;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.WhenRedisIsFull;
import io.gameq.durability.NodeSessions;
import io.gameq.healing.DurableTruth;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.Backoff;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.PrimaryConnector;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitGroup;
import io.gameq.redis.script.MessagesScript.Mode;
import io.gameq.redis.script.NodeSigns.NodeHeartbeat;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries the commits of a node to Redis in WAL order: version, WAL, group, send, settle. Its
 * public methods are thread-safe; all else runs on the sender's thread, see {@link SenderThread}.
 *
 * <p>While a group is on its way, new commits gather and travel together in the next one (group
 * commit): it is sent when the reply is there, or they are many. Where commits come often, one
 * waits a little for others besides ({@code linger}). Neither where a thread waits for one. When
 * the connection breaks, nothing new is sent until it is rebuilt and {@linkplain SenderHealing
 * healed}.
 *
 * <pre>
 * state     what is done with commits that wait                    left by
 * ready     WAL, then sent                                         a reply, an error, a task
 * draining  nothing, until what is on its way is answered          -> broken
 * broken    WAL, or they fail, by policy                           a healing -> ready or full
 * full      acknowledgements are sent, the rest waits              what is held is sent -> ready
 * </pre>
 *
 * <p>A process kill loses what is in memory here; the WAL has everything that was sent.
 */
public final class CommitSender implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CommitSender.class);

  /** Enough to keep Redis busy while replies travel; more only adds latency. */
  private static final int MOST_GROUPS_IN_FLIGHT = 4;

  /**
   * While a group is on its way, fewer commits than these gather until its reply, unless a thread
   * waits for one: a group costs about as much as its commits do.
   */
  private static final int WORTH_A_GROUP = 64;

  /** With so many the next group is sent though others might come. */
  private static final int ENOUGH_FOR_A_GROUP = 6;

  /** After a group of one: so many are sent at once before the next waits for others. */
  private static final int GROUPS_AT_ONCE = 16;

  private static final int MOST_GROUP_COMMITS = 256;

  /** A MULTI holds Redis for as long as it takes: about a millisecond for this many bytes. */
  private static final int MOST_GROUP_BYTES = 1 << 20;

  /** What a script holds Redis for: about three microseconds each, a millisecond in all. */
  private static final int MOST_GROUP_MESSAGES = 400;

  /** Each is a script of its own; more only adds to the latency of what comes behind them. */
  private static final int MOST_GROUP_SCRIPTS = 16;

  private static final long LONGEST_REST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Longer than an attempt to connect or a call to MySQL takes to give up. */
  private static final long ABANDON_MILLIS = 11_000;

  private static final long ANSWER_TIMEOUT_SECONDS = 30;

  private final CommitQueue queue;
  private final SenderLink link;
  private final SenderSessions sessions;
  private final RecentMessages recent;
  private final Settlement settlement;
  private final SenderHealing healing;
  private final WalWriter wal;
  private final VersionClock versions;
  private final long lingerNanos;
  private final boolean waitsForRoom;
  private final Runnable onHealed;
  private final Consumer<Throwable> onDeath;
  private final SenderThread thread;

  /** In the WAL and never sent. */
  private final Deque<Commit> journaled = new ArrayDeque<>();

  /** On their way over the connection, in the order in which they were sent. */
  private final Deque<CommitGroup> inFlight = new ArrayDeque<>();

  /** Sent without an answer, to be sent again, in WAL order. */
  private final Deque<Commit> unanswered = new ArrayDeque<>();

  /** Taken from where they were, and not put anywhere yet. */
  private final List<Commit> inHand = new ArrayList<>();

  private final Queue<Reply> replies = new ConcurrentLinkedQueue<>();

  /** Of other threads; run between two groups of commits. */
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

  /** Fails when the sender's thread has ended: no task is run then. */
  private final CompletableFuture<Void> end = new CompletableFuture<>();

  /** Nothing new is taken; what was taken is still sent. */
  private volatile boolean stopping;

  /** Nothing is sent any more. */
  private volatile boolean abandoned;

  /** A thread waits for a commit that waits. */
  private volatile boolean hurried;

  /** Commits come so often that it pays to wait for others. */
  private volatile boolean lingers;

  private int groupsAtOnce;

  /** A reply is on its way that has the work go on: nobody needs to wake it. */
  private volatile boolean awaitsReply;

  private volatile @Nullable Throwable death;

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
      ScheduledExecutorService eventLoop,
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
    this.versions = versions;
    this.lingerNanos = config.linger().toNanos();
    this.waitsForRoom = config.whenRedisIsFull() == WhenRedisIsFull.WAIT;
    this.onHealed = onHealed;
    this.onDeath = onDeath;
    queue = new CommitQueue(config.limits(), config.whenRedisIsAway());
    recent = new RecentMessages(config.messageKeep());
    long windowMillis = config.mergeWindow().toMillis();
    sessions =
        new SenderSessions(
            servers.slots(), () -> servers.clock().getAsLong() + windowMillis, wal.id(), recent);
    link = new SenderLink(servers.primary(), servers.clock(), servers.heartbeat());
    settlement = new Settlement(queue, wal, ofNode.counts(), recent);
    healing =
        new SenderHealing(wal, truth, sessions, settlement, recent, ofNode, unanswered, journaled);
    redis = link.connect();
    healing.begin(redis);
    lastHealedOn = link.server();
    healedOn = lastHealedOn; // there is nothing yet that it could have lost
    thread = new SenderThread(servers.eventLoop(), this::workWithoutWaiting, this::run);
    thread.start();
  }

  // --- what other threads call

  /**
   * Takes a commit over; returns at once unless the node is full. It may wait a little for others,
   * unless it is urgent, acknowledges a message, or {@link #hurry} is called.
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
    int unanswered = queue.unanswered();
    if (commit.isUrgent() || commit.acknowledges()) {
      hurry();
    } else if (awaitsReply) {
      if (unanswered >= WORTH_A_GROUP) {
        thread.wake();
      }
    } else if (mayLinger(unanswered)) {
      thread.wakeWithin(lingerNanos);
    } else {
      thread.wake();
    }
  }

  private boolean mayLinger(int unanswered) {
    return lingers && unanswered < ENOUGH_FOR_A_GROUP;
  }

  /** A thread waits for a commit that was submitted: it waits for others no longer. */
  public void hurry() {
    if (!queue.waiting.isEmpty()) { // else it is on its way
      hurried = true;
      thread.wake();
    }
  }

  /** Has something done on the sender's thread, unless that has ended. */
  private void add(Runnable task) {
    tasks.add(task);
    thread.wake();
  }

  /**
   * Has a question answered on the sender's thread, and waits for that.
   *
   * @param failure what is said when there is no answer
   * @throws GameQueueException when there is none in time, or the question threw
   */
  private <T> T ask(Supplier<T> question, String failure) {
    CompletableFuture<T> answer = CompletableFuture.supplyAsync(question, this::add);
    try {
      Object unused =
          CompletableFuture.anyOf(answer, end)
              .orTimeout(ANSWER_TIMEOUT_SECONDS, TimeUnit.SECONDS)
              .join();
      return answer.join();
    } catch (CompletionException e) {
      throw new GameQueueException(failure + ": " + e.getCause(), e);
    }
  }

  /** The messages that it has sent and that Redis may yet lose: the WAL is to keep them. */
  public RecentMessages recent() {
    return recent;
  }

  /** Whether it met an error and will do nothing any more. */
  public boolean hasDied() {
    return death != null;
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
                loseTrust("session " + session + " was opened while the connection was rebuilt");
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
    add(() -> loseTrust(why));
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

  /** Commits nothing any more, as after an error that nothing helps against. Returns at once. */
  public void end(GameQueueException why) {
    if (!hasDied()) {
      add(
          () -> {
            throw why;
          });
    }
  }

  /**
   * Gives another connection of this node up, if it leads to an older server than the one that this
   * node has healed on: what it reads there would miss what was put back. Throws GameQueueException
   * when that connection has to be opened and cannot.
   */
  public void takeAlong(ControlConnection control) {
    PrimaryConnector.Opened connected = control.connected();
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
   * @throws io.gameq.GameQueueException when the sender does not answer in time
   */
  public void leave(long term) {
    boolean unused =
        ask(
            () -> {
              if (!broken && link.term() == term) {
                disconnect("another Redis primary took over from number " + term);
              }
              return true;
            },
            "the primary that was demoted cannot be left");
  }

  /** Whether it is connected to a server that has all that this node knows. */
  public boolean isHealed() {
    return healedOn != null && !hasDied();
  }

  /**
   * When, by System.nanoTime, this node last came to the end of a healing on another server than
   * before, or of one that put messages back: other nodes may be putting theirs back as well. 0 for
   * never.
   */
  public long healedElsewhereNanos() {
    return healedElsewhereNanos;
  }

  /** Whether this node has healed on a server, by its run id, and is still connected to it. */
  public boolean hasHealedOn(String server) {
    return server.equals(healedOn);
  }

  /** Whether it is connected, and began to connect after that moment. */
  public boolean hasConnectedSince(long nanos) {
    return isHealed() && link.connectedNanos() - nanos > 0;
  }

  /**
   * A newer connection of this node leads to that server: heals there now, if it is the primary.
   * Returns at once.
   */
  public void healSoon(PrimaryConnector.Opened other) {
    add(
        () -> {
          if (broken) {
            retryAtNanos = System.nanoTime();
          } else if (!other.runId().equals(link.server())
              && !hasConnectedSince(other.sinceNanos())) {
            disconnect("a newer connection of this node leads to another server");
          }
        });
  }

  /**
   * Sends what was taken over and stops; waits up to {@code timeoutMillis}. Returns whether
   * everything was answered.
   */
  public boolean close(long timeoutMillis) {
    stopping = true;
    queue.close(this::whyNot);
    thread.wake();
    boolean answered = thread.join(timeoutMillis) && !hasDied();
    abandoned = true;
    boolean unused = thread.join(ABANDON_MILLIS); // it uses the WAL, which is closed next
    return answered;
  }

  @Override
  public void close() {
    close(0);
  }

  // --- the loop

  /** Works until the sender ends; on its own thread. */
  private void run() {
    try {
      while (!isFinished()) {
        if (isReady() && !stopping) {
          thread.lendToEventLoop();
        } else if (work() == 0) {
          thread.rest(this::hasNothingToDo, restNanos());
        }
      }
      int unused = runTasks();
    } catch (RuntimeException | Error e) {
      death = e;
      queue.close(this::whyNot);
      onDeath.accept(e);
      LOG.error(
          "the sender of this node died: it takes no further commit, and WAL {} is needed for"
              + " recovery",
          wal.directory(),
          e);
    } finally {
      queue.close(this::whyNot);
      boolean unused = end.completeExceptionally(whyNot());
      failAll();
      redis.close();
    }
  }

  /** Why nothing is taken. */
  private GameQueueException whyNot() {
    Throwable cause = death;
    return cause == null
        ? new ClosedException("the queue is closed: open a GameQueue anew")
        : new GameQueueException(
            ("the sender of this node died (%s): close the node and start it again; what"
                    + " it had is in WAL %s")
                .formatted(cause, wal.directory()),
            cause);
  }

  /** Runs what waits; returns how much that was. */
  private int runTasks() {
    int done = 0;
    for (Runnable task; (task = tasks.poll()) != null; done++) {
      task.run();
    }
    return done;
  }

  private boolean isFinished() {
    return abandoned || (stopping && hasNone() && inFlight.isEmpty() && unanswered.isEmpty());
  }

  /** All there is to do on the event loop; false when the sender's own thread has to go on. */
  private boolean workWithoutWaiting() {
    disconnectIfClosed();
    while (isReady() && !stopping) {
      int work = runTasks() + takeReplies();
      if (isReady() && !stopping) {
        work += sendNext();
      }
      if (work > 0) {
        continue;
      }
      boolean awaits = !inFlight.isEmpty();
      if (awaitsReply == awaits) {
        if (!awaits && !hasNone()) {
          thread.wakeWithin(lingerLeftNanos());
        }
        return true;
      }
      awaitsReply = awaits; // who submitted before he could see that has woken nobody
    }
    awaitsReply = false;
    return false;
  }

  /** A round on the sender's own thread; returns how much was done. */
  private int work() {
    int work = runTasks() + takeReplies();
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
    boolean nothingToSend = broken ? queue.waiting.isEmpty() : !isReady() || cannotSend();
    return replies.isEmpty() && tasks.isEmpty() && nothingToSend && !isFinished();
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
    return hasNone() || inFlight.size() >= mostInFlight() || isLingering() || followsUnanswered();
  }

  private int mostInFlight() {
    return hurried
        ? MOST_GROUPS_IN_FLIGHT
        : Math.min(MOST_GROUPS_IN_FLIGHT, 1 + queue.unanswered() / WORTH_A_GROUP);
  }

  /** Whether what waits may wait for others yet. */
  private boolean isLingering() {
    return mayLinger(queue.unanswered())
        && !hurried
        && !stopping
        && journaled.isEmpty()
        && lingerLeftNanos() > 0;
  }

  private long lingerLeftNanos() {
    Commit first = queue.waiting.peek();
    return first == null ? 0 : lingerNanos - (System.nanoTime() - first.beganNanos());
  }

  private boolean hasNone() {
    return queue.waiting.isEmpty() && journaled.isEmpty();
  }

  /** Those that were journaled while Redis was away, then those that wait. */
  private Queue<Commit> next() {
    return journaled.isEmpty() ? queue.waiting : journaled;
  }

  /**
   * Whether what comes next deletes or retimes a message whose publish has no answer: Redis may
   * refuse that for want of room, and gets it once more then.
   */
  private boolean followsUnanswered() {
    Commit next = waitsForRoom ? next().peek() : null;
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
    boolean wasHurried = hurried;
    hurried = false; // before any is taken: who comes later is heard
    List<Commit> taken = new ArrayList<>();
    Set<MessageId> published = null;
    int bytes = 0;
    int messages = 0;
    for (Commit next;
        (next = next().peek()) != null
            && bytes < MOST_GROUP_BYTES
            && messages < MOST_GROUP_MESSAGES; ) {
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
      if (next().remove(next)) {
        inHand.add(next);
        taken.add(next);
        if (published != null) {
          next.addPublished(published);
        }
        bytes += next.bytes();
        messages += next.messages().size();
      }
    }
    if (wasHurried && !hasNone()) {
      hurried = true;
    }
    if (taken.size() > 1) {
      groupsAtOnce = 0;
    } else {
      groupsAtOnce = groupsAtOnce == 0 ? GROUPS_AT_ONCE : groupsAtOnce - 1;
    }
    lingers = lingerNanos > 0 && groupsAtOnce == 0;
    return taken;
  }

  /**
   * While Redis is full and others are held: takes those that wait and {@linkplain Commit#makesRoom
   * make room} there, which are acknowledgements.
   */
  private List<Commit> takeToMakeRoom() {
    List<Commit> taken = new ArrayList<>();
    int changes = 0;
    for (Collection<Commit> from : List.of(journaled, queue.waiting)) {
      for (Iterator<Commit> it = from.iterator();
          it.hasNext() && changes < MOST_GROUP_MESSAGES && taken.size() < MOST_GROUP_COMMITS; ) {
        Commit next = it.next();
        if (next.makesRoom()) {
          it.remove();
          inHand.add(next);
          taken.add(next);
          changes += next.messages().size();
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
    CommitGroup group = sessions.group(Mode.FIRST, commits, overtakes);
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
        taken.size() < MOST_GROUP_COMMITS && (next = queue.waiting.poll()) != null;
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
    recent.openFrom(oldestOpen());
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
    boolean forgot = false;
    boolean lacksRoom = false;
    List<Settlement.Failure> failed = new ArrayList<>();
    for (int i = 0; i < commits.size(); i++) {
      Commit commit = commits.get(i);
      CommitGroup.Outcome outcome =
          refusal != null ? new CommitGroup.RefusedBy(refusal) : group.outcome(i);
      if (outcome instanceof CommitGroup.Applied) { // nearly always
        queued.add(commit);
      } else if (isForgotten(outcome)) {
        commit.setNotTaken();
        unanswered.add(commit); // in WAL order: before those in flight
        forgot = true;
      } else if (waitsForRoom
          && outcome instanceof CommitGroup.RefusedBy by
          && RedisReply.isFull(by.message())) {
        commit.setNotTaken();
        unanswered.add(commit);
        lacksRoom = true;
      } else if (outcome instanceof CommitGroup.PartlyApplied taken) {
        settlement.dropped(
            commit, Settlement.unknown(commit, "Redis took only part of it: " + taken.message()));
      } else {
        failed.add(new Settlement.Failure(commit, Settlement.reason(outcome)));
      }
    }
    settlement.queued(queued);
    settlement.failed(failed);
    if (lacksRoom) {
      redisIsFull();
    }
    if (forgot) {
      loseTrust("it forgot a session, or commits");
    } else if (!fits) {
      loseTrust("its journal marks are not as it told: it has lost commits");
    }
    inHand.clear();
  }

  /** Whether Redis has lost the session or the commit; a session that a newer one follows ends. */
  private static boolean isForgotten(CommitGroup.Outcome outcome) {
    if (outcome instanceof CommitGroup.NotOwner not) {
      if (not.isNewer()) {
        not.part().session().markLost();
      }
      return !not.part().session().isLost();
    }
    return outcome instanceof CommitGroup.Forgotten;
  }

  // --- recovery

  /** A connection that ended while nothing was on its way is told by no reply. */
  private void disconnectIfClosed() {
    if (!broken && !redis.isOpen()) {
      disconnect("it is closed");
    }
  }

  /** Gives the connection up: whatever has no answer yet is sent again once healed. */
  private void disconnect(String why) {
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
    retryAtNanos = System.nanoTime();
    healedOn = null;
    recent.away();
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
  private void loseTrust(String why) {
    healing.oweAll();
    if (!broken && draining == null) {
      draining = why;
      retryAtNanos = System.nanoTime();
    }
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
      link.takeOver(redis);
      int again = unanswered.size();
      healing.run(redis);
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
    recent.healed();
    queue.redisIsBack();
    if (!link.server().equals(lastHealedOn) || healing.putMessagesBack) {
      healedElsewhereNanos = System.nanoTime();
    }
    lastHealedOn = link.server();
    healedOn = lastHealedOn;
    onHealed.run();
  }

  /** Sends what waits for room in Redis again, in order. */
  private int sendHeld() {
    try {
      healing.sendAgain(redis);
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
    for (Commit commit; (commit = queue.waiting.poll()) != null; ) {
      all.add(commit);
    }
    String why =
        death == null
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

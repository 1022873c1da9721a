package io.gameq.healing;

import io.gameq.RedisFullException;
import io.gameq.change.VersionClock;
import io.gameq.healing.HealingPorts.HeldSession;
import io.gameq.healing.HealingPorts.SessionName;
import io.gameq.healing.Lookups.ReplayRedis;
import io.gameq.healing.ReplaySource.SequenceRange;
import io.gameq.healing.WalFolder.Count;
import io.gameq.message.MessageChange;
import io.gameq.mysql.tables.TombstoneHorizon;
import io.gameq.owner.DurableSessions.CountingSessions;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitScript.ScriptCommit;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.MessagesScript;
import io.gameq.redis.script.MessagesScript.WalCall;
import io.gameq.wal.WalRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts messages back into Redis, from a WAL and in its order, that Redis had and lost, and repeats
 * what was done to others: versions decide, so that it may run any number of times. Those of a
 * commit whose rows are lost for good are lost with them; so rows are replayed before. One thread.
 */
public final class MessageReplay {
  /**
   * Of a node that is gone older messages are not put back. A day shorter, for clocks that differ,
   * than Redis keeps the {@linkplain JournalMarks#KEPT marks} of nodes that are gone, without which
   * all would be replayed; than it remembers which messages are over ({@code DONE_MILLIS} of {@code
   * batches.lua}), without which handled ones would come back; and than MySQL remembers whose rows
   * count of them ({@link TombstoneHorizon#HANDLED_KEPT}), without which both handlers' would.
   */
  public static final Duration OLDEST = Duration.ofDays(6);

  private static final Logger LOG = LoggerFactory.getLogger(MessageReplay.class);

  /** A script holds Redis for about 3 us a change. */
  private static final int CHANGES_AT_ONCE = 1_000;

  private static final int BYTES_AT_ONCE = 1 << 20;

  private final RedisConnection redis;
  private final SlotKeys[] slots;
  private final JournalMarks marks;
  private final Predicate<WalRecord.Part> isLost;
  private final DurableTruth truth;
  private final long untilNanos = System.nanoTime() + DurableTruth.MOST_WAIT_NANOS;
  private final List<ScriptCommit> commits = new ArrayList<>();
  private int changes;
  private int bytes;
  private int sent;
  private int rowsLost;

  /**
   * A replay of one WAL.
   *
   * @param marks by which Redis lacks what it lacks
   * @param isLost whether the session of a part has lost its owner: then somebody else has the
   *     rows, or nobody
   */
  private MessageReplay(
      RedisConnection redis,
      SlotKeys[] slots,
      JournalMarks marks,
      Predicate<WalRecord.Part> isLost,
      DurableTruth truth) {
    this.redis = redis;
    this.slots = slots;
    this.marks = marks;
    this.isLost = isLost;
    this.truth = truth;
    MessagesScript.load(redis);
  }

  /**
   * Replays all that is lacking of a node's own WAL, after the rows.
   *
   * @param givenUp records whose rows were not replayed
   * @throws RedisFullException when Redis has no room: what is lacking stays owed
   * @throws io.gameq.GameQueueException when Redis goes away: as well
   */
  static void run(HealingPorts ports, Set<Long> givenUp) {
    ports.leaveOut(givenUp);
    long[] newest = ports.newest();
    long after = Long.MAX_VALUE;
    for (int slot = 0; slot < newest.length; slot++) {
      if (ports.marks().lacks(slot, newest[slot])) {
        after = Math.min(after, ports.marks().sequence(slot));
      }
    }
    List<SequenceRange> stretches = after < Long.MAX_VALUE ? ports.messagesAfter(after) : List.of();
    if (stretches.isEmpty()) {
      return;
    }
    Set<Long> failed = new HashSet<>();
    if (stretches.stream().anyMatch(ports::mayHaveFailed)) { // a mark stands behind its commit
      ports
          .wal()
          .readMessages(
              new SequenceRange(stretches.get(0).from(), Long.MAX_VALUE),
              entry -> {
                if (entry.record() instanceof WalRecord.Failed of) {
                  failed.add(of.sequence());
                }
              });
    }
    MessageReplay replay =
        new MessageReplay(
            ports.redis(),
            ports.slots(),
            ports.marks(),
            part -> {
              HeldSession held = ports.sessions().of(part);
              return held != null // one that the node let go of, and did not lose, is in MySQL
                  ? held.ref().isLost()
                  : ports.wasLost(new SessionName(part.owner(), part.session()));
            },
            ports.truth());
    try {
      for (SequenceRange of : stretches) {
        ports
            .wal()
            .readMessages(
                of,
                entry -> {
                  if (entry.record() instanceof WalRecord.Committed commit
                      && !ports.isLeftOut(entry.sequence())
                      && !failed.contains(entry.sequence())) {
                    replay.take(entry.sequence(), commit);
                  }
                });
      }
      replay.finish();
    } finally {
      ports.replayed(replay.sent);
      if (replay.sent > 0) {
        ports.putMessagesBack();
      }
    }
  }

  /** Takes the next commit that did not fail; throws as {@link #run}, and what was sent stays. */
  private void take(long sequence, WalRecord.Committed commit) {
    List<MessageChange> lost =
        commit.messages().stream().filter(of -> marks.lacks(of.slot(), sequence)).toList();
    if (!lost.isEmpty() && areRowsThere(commit.parts())) {
      commits.add(new ScriptCommit(sequence, commit.version(), lost));
      changes += lost.size();
      bytes += lost.stream().mapToInt(MessageChange::bytes).sum();
    }
    if (changes >= CHANGES_AT_ONCE || bytes >= BYTES_AT_ONCE) {
      send();
    }
  }

  /** Whether the rows that were committed together with messages are not lost for good. */
  private boolean areRowsThere(List<WalRecord.Part> rows) {
    boolean are =
        rows.stream()
            .allMatch(
                part ->
                    !isLost.test(part)
                        || (!part.rows().isEmpty() && truth.isThere(redis, part, untilNanos)));
    rowsLost += are ? 0 : 1;
    return are;
  }

  /** All were taken. */
  private void finish() {
    send();
    if (rowsLost > 0) {
      LOG.error(
          "the messages of {} commits are not put back into Redis, since rows of these commits"
              + " were lost with their sessions",
          rowsLost);
    }
  }

  private void send() {
    if (commits.isEmpty()) {
      return;
    }
    List<MessagesScript.Refused> refused =
        RedisReply.await(
                MessagesScript.send(
                    redis, WalCall.ofReplay(slots, 0), List.of(), List.copyOf(commits)))
            .refused();
    sent += commits.size();
    for (MessagesScript.Refused of : refused) {
      long sequence = commits.get(of.commit()).sequence();
      if (of.kind() == MessagesScript.Kind.FULL) {
        throw new RedisFullException(
            "Redis reached maxmemory: messages of WAL record "
                + sequence
                + " cannot be put back yet");
      }
      if (of.kind() != MessagesScript.Kind.CLAIM_LOST) { // else another one handled it since
        LOG.error("cannot replay messages of WAL record {}: {}", sequence, of.text());
      }
    }
    commits.clear();
    changes = 0;
    bytes = 0;
  }

  /**
   * What WALs whose nodes are gone have of messages.
   *
   * @param changes publishes, acknowledgements and the like
   * @param lacking of these, those that Redis does not hold
   * @param tooOld those that Redis may or may not have held: they are older than it remembers, and
   *     are not put back
   */
  public record Totals(long changes, long lacking, long tooOld) {
    private Totals plus(Totals more) {
      return new Totals(changes + more.changes, lacking + more.lacking, tooOld + more.tooOld);
    }
  }

  /**
   * What Redis lacks; nothing is known of it without Redis.
   *
   * @param wals of the same namespace, which were read once
   * @throws io.gameq.GameQueueException when Redis does not answer
   */
  public static Totals totals(Lookups lookups, Collection<WalFolder> wals) {
    Totals all = new Totals(0, 0, 0);
    ReplayRedis redis = lookups.redis();
    for (WalFolder wal : wals) {
      if (redis != null && wal.count(Count.MESSAGES) > 0) {
        all = all.plus(read(wal, marks(redis, wal), new long[redis.slots().length], null));
      }
    }
    return all;
  }

  /**
   * Puts back what Redis lacks of a WAL whose node is gone, once its rows are where they belong;
   * stopped anywhere or run twice, it does no harm. Takes as much memory as there are slots and
   * sessions.
   *
   * @param wal was read once
   * @param areRowsBack whether nothing is left of the rows: then the journal marks are moved on
   * @return of how many commits messages were put back
   * @throws io.gameq.GameQueueException when a server does not answer, or Redis has no room: what
   *     was put back stays
   */
  public static long putBack(Lookups lookups, WalFolder wal, boolean areRowsBack) {
    ReplayRedis redis = lookups.redis();
    if (redis == null || wal.count(Count.MESSAGES) == 0) {
      return 0;
    }
    Map<SessionName, Boolean> lostSessions = new HashMap<>();
    JournalMarks marks = marks(redis, wal);
    long[] newest = new long[redis.slots().length];
    MessageReplay replay =
        new MessageReplay(
            redis.connection(),
            redis.slots(),
            marks,
            part ->
                lostSessions.computeIfAbsent(
                    new SessionName(part.owner(), part.session()), of -> isLost(lookups, of)),
            lookups.truth());
    Totals found = read(wal, marks, newest, replay);
    replay.finish();
    if (found.lacking > 0) {
      if (!wal.report().isWhole() || !areRowsBack) {
        Arrays.fill(newest, -1);
      }
      JournalMarks unused = marks.write(redis.connection(), redis.slots(), wal.id(), newest);
    }
    return replay.sent;
  }

  private static JournalMarks marks(ReplayRedis redis, WalFolder wal) {
    return JournalMarks.read(redis.connection(), redis.slots(), wal.id());
  }

  private static boolean isLost(Lookups lookups, SessionName session) {
    OwnerId owner = OwnerId.ofEncoded(session.owner());
    return !CountingSessions.counts(
        lookups.database().owners().current(List.of(owner)).get(owner),
        SessionId.parse(session.session()));
  }

  /**
   * Reads the messages of a WAL whose node is gone. Those of records that were carried forward are
   * older than they are kept.
   *
   * @param newest by slot, gets the newest sequence
   * @param replay takes those that are not too old; null: they are counted alone
   */
  private static Totals read(
      WalFolder wal, JournalMarks marks, long[] newest, @Nullable MessageReplay replay) {
    long youngFromMillis = System.currentTimeMillis() - OLDEST.toMillis();
    long[] counts = new long[3];
    wal.read(
        entry -> {
          long sequence = entry.sequence();
          for (WalRecord.Part part : entry.record().parts()) {
            int slot = OwnerId.ofEncoded(part.owner()).slot(newest.length);
            newest[slot] = Math.max(newest[slot], sequence);
          }
          for (MessageChange of : entry.record().messages()) {
            newest[of.slot()] = Math.max(newest[of.slot()], sequence);
          }
          if (!entry.isCarried()
              && entry.record() instanceof WalRecord.Committed commit
              && !wal.isFailed(sequence)) {
            boolean isOld = VersionClock.millis(commit.version()) < youngFromMillis;
            for (MessageChange of : commit.messages()) {
              counts[0]++;
              if (marks.lacks(of.slot(), sequence)) {
                counts[isOld ? 2 : 1]++;
              }
            }
            if (replay != null && !isOld) {
              replay.take(sequence, commit);
            }
          }
        });
    return new Totals(counts[0], counts[1], counts[2]);
  }
}

package io.gameq.healing;

import io.gameq.RedisFullException;
import io.gameq.change.Commit.SlotMessages;
import io.gameq.healing.HealingStep.HealingPorts;
import io.gameq.healing.HealingStep.HeldSession;
import io.gameq.healing.HealingStep.MessageRecords;
import io.gameq.healing.HealingStep.NotReplayed;
import io.gameq.healing.HealingStep.SessionName;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.MessagesScript;
import io.gameq.redis.script.MessagesScript.MessageCommit;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts messages back into Redis, from a WAL and in its order, that Redis had and lost, and repeats
 * what was done to others: versions decide, so that it may run any number of times. Those of a
 * commit whose rows are lost for good are lost with them; so rows are replayed before. One thread.
 */
final class MessageReplay {
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
  private List<MessageCommit> commits = new ArrayList<>();
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
  MessageReplay(
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
   * @param passed records whose rows were not replayed
   * @throws RedisFullException when Redis has no room: what is lacking stays owed
   * @throws io.gameq.GameQueueException when Redis goes away: as well
   */
  static HealingStep next(HealingPorts ports, NotReplayed passed) {
    MessageRecords records = ports.messages();
    records.leaveOut(passed.givenUp());
    long[] newest = ports.newest();
    long after = Long.MAX_VALUE;
    for (int slot = 0; slot < newest.length; slot++) {
      if (ports.marks().lacks(slot, newest[slot])) {
        after = Math.min(after, ports.marks().sequence(slot));
      }
    }
    List<MessageRecords.Stretch> stretches =
        after < Long.MAX_VALUE ? records.after(after) : List.of();
    if (!stretches.isEmpty()) {
      replay(ports, stretches);
    }
    return new HealingStep.WriteMarks();
  }

  private static void replay(HealingPorts ports, List<MessageRecords.Stretch> stretches) {
    MessageRecords records = ports.messages();
    Set<Long> failed = new HashSet<>();
    if (stretches.stream().anyMatch(records::mayHaveFailed)) { // a mark stands behind its commit
      ports
          .wal()
          .readMessages(
              new MessageRecords.Stretch(stretches.get(0).from(), Long.MAX_VALUE),
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
                  : records.wasLost(new SessionName(part.owner(), part.session()));
            },
            ports.truth());
    try {
      for (MessageRecords.Stretch of : stretches) {
        ports
            .wal()
            .readMessages(
                of,
                entry -> {
                  if (entry.record() instanceof WalRecord.Committed commit
                      && !records.isLeftOut(entry.sequence())
                      && !failed.contains(entry.sequence())) {
                    replay.take(entry.sequence(), commit);
                  }
                });
      }
      replay.finish();
    } finally {
      ports.replayed(replay.sent());
      if (replay.sent() > 0) {
        ports.putMessagesBack();
      }
    }
  }

  /** Takes the next commit that did not fail; throws as {@link #finish}. */
  void take(long sequence, WalRecord.Committed commit) {
    List<SlotMessages> lost =
        commit.messages().stream().filter(of -> marks.lacks(of.slot(), sequence)).toList();
    if (!lost.isEmpty() && areRowsThere(commit.parts())) {
      commits.add(new MessageCommit(sequence, commit.version(), lost));
      for (SlotMessages of : lost) {
        changes += of.changes().size();
        bytes += of.bytes();
      }
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

  /** All were taken; throws as {@link #next}, and what was sent stays. */
  void finish() {
    send();
    if (rowsLost > 0) {
      LOG.error(
          "the messages of {} commits are not put back into Redis, since rows of these commits"
              + " were lost with their sessions",
          rowsLost);
    }
  }

  /** Of how many commits messages were sent. */
  int sent() {
    return sent;
  }

  private void send() {
    if (commits.isEmpty()) {
      return;
    }
    List<MessagesScript.Refused> refused =
        RedisReply.await(
                MessagesScript.send(redis, MessagesScript.WalCall.ofReplay(slots), commits))
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
    commits = new ArrayList<>();
    changes = 0;
    bytes = 0;
  }
}

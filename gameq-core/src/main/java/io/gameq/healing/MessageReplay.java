package io.gameq.healing;

import io.gameq.RedisFullException;
import io.gameq.change.SlotMessages;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import io.gameq.redis.RedisReply;
import io.gameq.redis.script.JournalMarks;
import io.gameq.redis.script.MessageCommit;
import io.gameq.redis.script.MessagesScript;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts messages back into Redis, from the WAL and in its order, that Redis had and lost, and
 * repeats what was done to others: versions decide, so that it may run any number of times. Those
 * of a commit whose rows are lost for good are lost with them. One thread.
 */
final class MessageReplay {
  private static final Logger LOG = LoggerFactory.getLogger(MessageReplay.class);

  /** A script holds Redis for about 3 us a change. */
  private static final int CHANGES_AT_ONCE = 1_000;

  private static final int BYTES_AT_ONCE = 1 << 20;

  /** As long as halves of trades are waited for. */
  private static final long MOST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long ASK_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final HealingPorts ports;
  private final MessageRecords records;
  private final JournalMarks marks;
  private final long untilNanos = System.nanoTime() + MOST_WAIT_NANOS;
  private final Set<Long> failed = new HashSet<>();

  private List<MessageCommit> commits = new ArrayList<>();
  private int changes;
  private int bytes;
  private int rowsLost;

  private MessageReplay(HealingPorts ports) {
    this.ports = ports;
    this.records = ports.messages();
    this.marks = ports.marks();
  }

  /**
   * Replays all that is lacking, after the rows.
   *
   * @param passed records whose rows were not replayed
   * @throws RedisFullException when Redis has no room: what is lacking stays owed
   * @throws io.gameq.GameQueueException when Redis goes away: as well
   */
  static HealingStep next(HealingPorts ports, NotReplayed passed) {
    ports.messages().leaveOut(passed.givenUp());
    long[] newest = ports.newest();
    long after = Long.MAX_VALUE;
    for (int slot = 0; slot < newest.length; slot++) {
      if (ports.marks().lacks(slot, newest[slot])) {
        after = Math.min(after, ports.marks().sequence(slot));
      }
    }
    if (after < Long.MAX_VALUE) {
      new MessageReplay(ports).replay(ports.messages().after(after));
    }
    return new HealingStep.WriteMarks();
  }

  private void replay(List<MessageRecords.Stretch> stretches) {
    if (stretches.isEmpty()) {
      return;
    }
    MessagesScript.load(ports.redis());
    if (stretches.stream().anyMatch(records::mayHaveFailed)) { // a mark stands behind its commit
      ports
          .wal()
          .readMessages(
              new MessageRecords.Stretch(stretches.get(0).from(), Long.MAX_VALUE),
              this::noteFailed);
    }
    stretches.forEach(of -> ports.wal().readMessages(of, this::take));
    send();
    if (rowsLost > 0) {
      LOG.error(
          "the messages of {} commits are not put back into Redis, since rows of these commits"
              + " were lost with their sessions",
          rowsLost);
    }
  }

  private void noteFailed(WalReader.Entry entry) {
    if (entry.record() instanceof WalRecord.Failed of) {
      failed.add(of.sequence());
    }
  }

  private void take(WalReader.Entry entry) {
    long sequence = entry.sequence();
    if (!(entry.record() instanceof WalRecord.Committed commit)
        || commit.messages().isEmpty()
        || records.isLeftOut(sequence)
        || failed.contains(sequence)) {
      return;
    }
    List<SlotMessages> lost =
        commit.messages().stream().filter(of -> marks.lacks(of.slot(), sequence)).toList();
    if (!lost.isEmpty() && areRowsThere(commit.parts())) {
      commits.add(new MessageCommit(sequence, commit.version(), lost));
      for (SlotMessages of : lost) {
        changes += of.changes().size();
        bytes += of.bytes();
      }
      ports.replayed(1);
    }
    if (changes >= CHANGES_AT_ONCE || bytes >= BYTES_AT_ONCE) {
      send();
    }
  }

  /** Whether the rows that were committed together with messages are not lost for good. */
  private boolean areRowsThere(List<WalRecord.Part> rows) {
    boolean are = true;
    for (WalRecord.Part part : rows) {
      are = are && isThere(part);
    }
    rowsLost += are ? 0 : 1;
    return are;
  }

  /** A session that the node has let go of, and did not lose, has all in MySQL. */
  private boolean isThere(WalRecord.Part part) {
    HeldSession held = ports.sessions().of(part);
    boolean isLost =
        held != null
            ? held.ref().isLost()
            : records.wasLost(new SessionName(part.owner(), part.session()));
    if (!isLost || part.rows().isEmpty()) {
      return !isLost;
    }
    Map<String, Long> versions = new HashMap<>();
    part.rows().forEach(row -> versions.put(row.key(), row.version()));
    while (true) {
      LostHalves.Place place =
          ports
              .truth()
              .halves()
              .find(
                  ports.redis(),
                  OwnerId.ofEncoded(part.owner()),
                  SessionId.parse(part.session()),
                  versions);
      if (place != LostHalves.Place.MAY_COME || System.nanoTime() - untilNanos >= 0) {
        return place == LostHalves.Place.THERE;
      }
      LockSupport.parkNanos(ASK_EVERY_NANOS);
    }
  }

  private void send() {
    if (commits.isEmpty()) {
      return;
    }
    List<MessagesScript.Refused> refused =
        RedisReply.await(
                MessagesScript.send(
                    ports.redis(), MessagesScript.Arguments.ofReplay(ports.slots(), commits)))
            .refused();
    ports.putMessagesBack();
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

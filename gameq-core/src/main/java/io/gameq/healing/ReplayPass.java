package io.gameq.healing;

import io.gameq.GameQueueException;
import io.gameq.change.Commit.SlotMessages;
import io.gameq.healing.HealingStep.HealingPorts;
import io.gameq.healing.HealingStep.HeldSession;
import io.gameq.healing.HealingStep.HeldSessions;
import io.gameq.healing.HealingStep.NotReplayed;
import io.gameq.healing.HealingStep.RecordsToReplay;
import io.gameq.healing.HealingStep.SessionName;
import io.gameq.message.MessageChange;
import io.gameq.owner.OwnerId;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys.SessionKeys;
import io.gameq.redis.script.CommitScript;
import io.gameq.redis.script.LuaScript;
import io.gameq.redis.script.MessagesScript.MessageCommit;
import io.gameq.redis.script.MessagesScript.WalCall;
import io.gameq.rows.EncodedRow;
import io.gameq.wal.WalRecord;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends to Redis again, from the WAL and in its order, what Redis had acknowledged and lost, and
 * rows that sessions adopted: one script for each record, which compares versions row by row, so
 * that it may run any number of times. Nothing is sent behind a record that is known to be refused.
 * Acknowledgements go with the rows of their commit; whether these count beside those of another
 * handler is MySQL's to decide. One thread.
 */
final class ReplayPass implements ReplaySource.Records {
  private static final Logger LOG = LoggerFactory.getLogger(ReplayPass.class);

  /** Scripts on their way at a time; more only takes memory. */
  private static final int MOST_IN_FLIGHT = 256;

  private static final int MOST_BYTES_IN_FLIGHT = 4 << 20;
  private static final int FLUSH_EVERY = 64;
  private static final long NOT_OWNER = 0;

  private final HealingPorts ports;
  private final HeldSessions sessions;
  private final Set<Long> doubtful;
  private final RedisConnection redis;
  private final Deque<Sent> inFlight = new ArrayDeque<>();
  private final Map<Long, WalRecord> undecided = new LinkedHashMap<>();
  private final List<Long> unreadable = new ArrayList<>();
  private int sent;
  private int bytesInFlight;
  private int unflushed;
  private @Nullable RefusedRecord refusal;

  private ReplayPass(HealingPorts ports) {
    this.ports = ports;
    this.sessions = ports.sessions();
    this.doubtful = sessions.doubtful();
    this.redis = ports.redis();
  }

  private record Sent(
      CompletionStage<List<Object>> reply, CommitScript.Arguments record, int bytes) {}

  /** The first record that Redis refused, and the session that does not own there. */
  private record RefusedRecord(long sequence, SessionName session) {}

  /**
   * Replays as much as is to be replayed at once; where none of that concerns a session that owns,
   * more. Throws GameQueueException when Redis goes away, or has no room.
   */
  static HealingStep replay(HealingPorts ports, HealingStep.Replay step) {
    long[] owed = ports.owed().sequences();
    NotReplayed passed = step.passed();
    for (int from = step.from(); from < owed.length; ) {
      int to = (int) Math.min(owed.length, (long) from + ports.atOnce().records());
      ReplayPass pass = run(ports, Arrays.copyOfRange(owed, from, to));
      passed = passed.plus(pass.undecided, pass.unreadable);
      if (pass.refusal != null) {
        int refused = Arrays.binarySearch(owed, pass.refusal.sequence);
        return new HealingStep.AskOwner(
            pass.refusal.session, new HealingStep.Replay(refused, passed), true);
      }
      from = to;
      if (pass.sent > 0) {
        return from < owed.length ? new HealingStep.Replay(from, passed) : ended(ports, passed);
      }
    }
    return ended(ports, passed).next(ports);
  }

  /** Nothing is owed any more but what is undecided. */
  static HealingStep ended(HealingPorts ports, NotReplayed passed) {
    if (!passed.undecided().isEmpty()) {
      ports.owed(RecordsToReplay.of(passed.sequences()));
    } else {
      ports.owed(RecordsToReplay.NOTHING);
      if (!passed.givenUp().isEmpty()) {
        ports.notReplayed(passed.givenUp());
      }
    }
    return new HealingStep.TellWhole(passed);
  }

  private static ReplayPass run(HealingPorts ports, long[] sequences) {
    CommitScript.load(ports.redis());
    ReplayPass pass = new ReplayPass(ports);
    ports.redis().flushesByItself(false);
    try {
      ports.wal().read(sequences, pass);
      pass.finish();
    } finally {
      ports.redis().flushesByItself(true);
    }
    ports.replayed(pass.sent);
    return pass;
  }

  /** Sends trades that were undecided. */
  private static ReplayPass send(HealingPorts ports, Map<Long, WalRecord> decided) {
    ReplayPass pass = new ReplayPass(ports);
    decided.forEach(pass::send);
    pass.finish();
    ports.replayed(pass.sent);
    return pass;
  }

  @Override
  public void record(long sequence, WalRecord record) {
    if (record.parts().size() > 1 && doubtful.contains(sequence)) {
      undecided.put(sequence, record);
      record.parts().forEach(part -> doubt(sequence, part)); // before anything later is sent
    } else {
      send(sequence, record);
    }
  }

  @Override
  public void unreadable(long sequence) {
    unreadable.add(sequence);
  }

  private void doubt(long sequence, WalRecord.Part part) {
    HeldSession session = sessions.of(part);
    if (session != null) {
      session.unsettled().doubt(sequence, part.rows().stream().map(EncodedRow::key).toList());
    }
  }

  private void send(long sequence, WalRecord record) {
    List<CommitScript.Part> owned = sessions.owned(record.parts());
    if (!owned.isEmpty() && refusal == null) {
      send(
          new CommitScript.Arguments(
              WalCall.ofReplay(ports.slots()),
              sequence,
              ports.dueMillis(),
              owned,
              // Where another session holds a part of it, it counted.
              owned.size() == record.parts().size() ? acknowledgements(sequence, record) : null));
      sent++;
    }
  }

  private static @Nullable MessageCommit acknowledgements(long sequence, WalRecord record) {
    List<SlotMessages> acks = new ArrayList<>();
    for (SlotMessages of : record.messages()) {
      List<MessageChange> some =
          of.changes().stream().filter(MessageChange.Ack.class::isInstance).toList();
      if (!some.isEmpty()) {
        acks.add(new SlotMessages(of.slot(), some));
      }
    }
    return acks.isEmpty() ? null : new MessageCommit(sequence, 0, acks);
  }

  /** Sends a record; waits while too much is on its way. */
  private void send(CommitScript.Arguments record) {
    int bytes = record.bytes();
    inFlight.add(new Sent(CommitScript.send(redis, record), record, bytes));
    bytesInFlight += bytes;
    if (++unflushed == FLUSH_EVERY) {
      flush();
    }
    while (inFlight.size() > MOST_IN_FLIGHT || bytesInFlight > MOST_BYTES_IN_FLIGHT) {
      awaitFirst();
    }
  }

  /** Waits for all that is on its way. */
  private void finish() {
    while (!inFlight.isEmpty()) {
      awaitFirst();
    }
  }

  private void flush() {
    redis.flush();
    unflushed = 0;
  }

  private void awaitFirst() {
    flush();
    Sent first = inFlight.remove();
    bytesInFlight -= first.bytes;
    List<Object> reply = reply(first);
    if (reply == null) {
      if (first.record.messages() != null) { // what is broken may be a topic's
        send(first.record.withoutMessages());
      }
      return;
    }
    long answer = (Long) reply.get(0);
    if (answer == NOT_OWNER && refusal == null) {
      SessionKeys keys = first.record.parts().get(((Long) reply.get(1)).intValue()).keys();
      refusal =
          new RefusedRecord(
              first.record.sequence(),
              new SessionName(LuaScript.string(keys.owner), LuaScript.string(keys.session)));
    }
  }

  /** Null when somebody else broke the key: then no commit can be put there. */
  private static @Nullable List<Object> reply(Sent of) {
    try {
      return of.reply.toCompletableFuture().join();
    } catch (CompletionException e) {
      String message = RedisReply.answered(e);
      if (message != null && message.startsWith("WRONGTYPE")) {
        LOG.error("cannot replay WAL record {}: {}", of.record.sequence(), message);
        return null;
      }
      throw new GameQueueException(
          "the replay stopped at WAL record " + of.record.sequence() + ": " + e.getMessage(), e);
    }
  }

  /**
   * Decides whether this node's half of a trade is replayed though its other half is of a lost
   * session: only if somebody else turns out to hold that. Later changes of its rows may be in
   * Redis already: versions are compared. Waits a little when not all can be decided by now.
   */
  static HealingStep decide(HealingPorts ports, HealingStep.Decide step) {
    boolean isLast = System.nanoTime() - step.sinceNanos() >= DurableTruth.MOST_WAIT_NANOS;
    Map<Long, WalRecord> sent = new TreeMap<>();
    Map<Long, WalRecord> left = new TreeMap<>();
    List<Long> givenUp = new ArrayList<>();
    step.passed()
        .undecided()
        .forEach(
            (sequence, record) -> {
              DurableTruth.Place place = place(ports, record.parts());
              if (place == DurableTruth.Place.THERE) {
                sent.put(sequence, record);
              } else if (place == DurableTruth.Place.NOWHERE || isLast) {
                givenUp.add(sequence);
              } else {
                left.put(sequence, record);
              }
            });
    NotReplayed now = step.passed().left(left).plus(Map.of(), givenUp);
    RefusedRecord refusal = send(ports, sent).refusal;
    if (refusal != null) { // all of these are decided again: versions are compared
      left.putAll(sent);
      return new HealingStep.AskOwner(
          refusal.session(), new HealingStep.Decide(now.left(left), step.sinceNanos()), true);
    }
    if (left.isEmpty()) {
      return ended(ports, now);
    }
    LockSupport.parkNanos(DurableTruth.ASK_EVERY_NANOS);
    return new HealingStep.Decide(now, step.sinceNanos());
  }

  /** Where the halves of lost sessions are: everywhere, not yet everywhere, or one nowhere. */
  private static DurableTruth.Place place(HealingPorts ports, List<WalRecord.Part> parts) {
    DurableTruth.Place place = DurableTruth.Place.THERE;
    for (WalRecord.Part part : parts) {
      HeldSession session = ports.sessions().of(part);
      if (place == DurableTruth.Place.THERE
          && !OwnerId.ofEncoded(part.owner()).isInbox() // what of these is not held is in MySQL
          && (session == null || session.ref().isLost())) {
        place = ports.truth().find(ports.redis(), part);
      }
    }
    return place;
  }
}

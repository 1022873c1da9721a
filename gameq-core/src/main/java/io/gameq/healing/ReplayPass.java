package io.gameq.healing;

import io.gameq.GameQueueException;
import io.gameq.change.Commit.SlotMessages;
import io.gameq.healing.HealingStep.HealingPorts;
import io.gameq.healing.HealingStep.HeldSession;
import io.gameq.healing.HealingStep.HeldSessions;
import io.gameq.healing.HealingStep.SessionName;
import io.gameq.message.MessageChange;
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
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
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
final class ReplayPass {
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
  record RefusedRecord(long sequence, SessionName session) {}

  /** Replays records of the WAL; throws GameQueueException when Redis goes away, or has no room. */
  static ReplayPass run(HealingPorts ports, long[] sequences) {
    CommitScript.load(ports.redis());
    ReplayPass pass = new ReplayPass(ports);
    ports.redis().flushesByItself(false);
    try {
      ports.wal().read(sequences, pass::take);
      pass.finish();
    } finally {
      ports.redis().flushesByItself(true);
    }
    ports.replayed(pass.sent);
    return pass;
  }

  /** The same of trades that were undecided. */
  static ReplayPass run(HealingPorts ports, Map<Long, WalRecord> decided) {
    ReplayPass pass = new ReplayPass(ports);
    decided.forEach(pass::send);
    pass.finish();
    ports.replayed(pass.sent);
    return pass;
  }

  private void take(long sequence, @Nullable WalRecord record) {
    if (record == null) {
      unreadable.add(sequence);
    } else if (record.parts().size() > 1 && doubtful.contains(sequence)) {
      undecided.put(sequence, record);
      for (WalRecord.Part part : record.parts()) { // before anything later is sent
        HeldSession session = sessions.of(part);
        if (session != null) {
          session.unsettled().doubt(sequence, part.rows().stream().map(EncodedRow::key).toList());
        }
      }
    } else {
      send(sequence, record);
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

  /** Trades, by sequence, of which a session that is lost has one half. */
  Map<Long, WalRecord> undecided() {
    return undecided;
  }

  List<Long> unreadable() {
    return unreadable;
  }

  /** How many records were sent. */
  int sent() {
    return sent;
  }

  @Nullable RefusedRecord refusal() {
    return refusal;
  }
}

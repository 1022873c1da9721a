package io.gameq.redis;

import io.gameq.GameQueueException;
import io.gameq.commit.SessionRef;
import io.gameq.commit.Unsettled;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import io.gameq.wal.WalWriter;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends to Redis again, from the WAL and in its order, what Redis had acknowledged and lost, and
 * puts back rows that sessions adopted: one script for each record, which compares versions row by
 * row, so that it may run any number of times. Used by the sender's thread while it heals, before
 * anything new is sent; stopped anywhere, it begins again.
 */
final class Replay {
  private static final Logger LOG = LoggerFactory.getLogger(Replay.class);

  /** Scripts on their way at a time; more only takes memory. */
  private static final int MOST_IN_FLIGHT = 256;

  private static final int MOST_BYTES_IN_FLIGHT = 4 << 20;
  private static final int FLUSH_EVERY = 64;

  private final WalWriter wal;
  private final byte[] walId;
  private final LongSupplier dueMillis;

  /**
   * What a replay that did not come to its end was to send: the marks, which it moved, say nothing
   * of it any more.
   */
  private long[] owed = {};

  private boolean trustsMarks = true;

  Replay(WalWriter wal, LongSupplier dueMillis) {
    this.wal = wal;
    this.walId = SlotKeys.bytes(wal.id());
    this.dueMillis = dueMillis;
  }

  /**
   * Has the next run send everything that is not known to be in MySQL: Redis lost something, and
   * took commits since then.
   */
  void distrustMarks() {
    trustsMarks = false;
  }

  /** A session that still owns, as the sender knows it. */
  record Session(SessionRef ref, SessionKeys keys, Unsettled unsettled) {}

  private record Sent(RedisFuture<List<Object>> reply, CommitScript.Arguments commit, int bytes) {}

  /**
   * Replays; returns how many records were sent.
   *
   * @param stillOwns asks MySQL, and tells Redis if so
   * @throws GameQueueException when Redis goes away or has no room; then all is still owed
   */
  long run(
      StatefulRedisConnection<byte[], byte[]> redis,
      Collection<Session> sessions,
      Predicate<SessionRef> stillOwns) {
    owed = concat(owed, lost(redis, sessions));
    trustsMarks = true; // what this leaves undone is owed
    if (owed.length == 0) {
      return 0;
    }
    Map<String, Session> byName = new HashMap<>();
    sessions.forEach(of -> byName.put(name(of.ref.owner().encoded(), of.ref.id().text()), of));
    CommitScript.load(redis);
    Run run = new Run(redis, byName, stillOwns);
    redis.setAutoFlushCommands(false);
    try {
      WalReader.read(wal.directory(), owed[0], run::take);
      run.finish();
    } finally {
      redis.setAutoFlushCommands(true);
    }
    long sent = run.sent;
    owed = new long[0];
    return sent;
  }

  private static String name(String owner, String session) {
    return owner + " " + session;
  }

  private static long[] concat(long[] a, long[] b) {
    return LongStream.concat(Arrays.stream(a), Arrays.stream(b)).sorted().distinct().toArray();
  }

  private long[] lost(StatefulRedisConnection<byte[], byte[]> redis, Collection<Session> sessions) {
    LongStream.Builder sequences = LongStream.builder();
    Map<SlotKeys, Long> marks = new HashMap<>();
    for (Session of : sessions) {
      long mark = !trustsMarks ? 0 : marks.computeIfAbsent(of.keys.slot, slot -> mark(redis, slot));
      of.unsettled.beyond(mark, sequences);
    }
    return sequences.build().toArray();
  }

  private long mark(StatefulRedisConnection<byte[], byte[]> redis, SlotKeys slot) {
    byte[] mark = RedisReply.await(() -> redis.sync().hget(slot.journal(), walId));
    return mark == null ? 0 : Long.parseLong(LuaScript.string(mark));
  }

  /** One pass over the WAL. */
  private final class Run {
    private final StatefulRedisConnection<byte[], byte[]> redis;
    private final Map<String, Session> sessions;
    private final Predicate<SessionRef> stillOwns;
    private final Deque<Sent> inFlight = new ArrayDeque<>();
    private int bytesInFlight;
    private int unflushed;
    private int next;
    private long found;
    private long sent;

    Run(
        StatefulRedisConnection<byte[], byte[]> redis,
        Map<String, Session> sessions,
        Predicate<SessionRef> stillOwns) {
      this.redis = redis;
      this.sessions = sessions;
      this.stillOwns = stillOwns;
    }

    void take(WalReader.Entry entry) {
      while (next < owed.length && owed[next] < entry.sequence()) {
        next++;
      }
      if (next < owed.length && owed[next] == entry.sequence()) {
        found++;
        if (entry.record() instanceof WalRecord.Committed committed) {
          send(entry.sequence(), committed.parts());
        } else if (entry.record() instanceof WalRecord.Adopted adopted) {
          send(entry.sequence(), List.of(adopted.part()));
        }
      }
    }

    /** Parts of sessions that do not own any more, or have nothing to settle, are left out. */
    private void send(long sequence, List<WalRecord.Part> parts) {
      List<CommitScript.Part> owned = new ArrayList<>();
      int bytes = 0;
      for (WalRecord.Part part : parts) {
        Session session = sessions.get(name(part.owner(), part.session()));
        if (session != null && !session.ref.isLost()) {
          List<byte[]> rows = new ArrayList<>(2 * part.rows().size());
          for (WalRecord.Row row : part.rows()) {
            rows.add(SlotKeys.bytes(row.key()));
            rows.add(row.image());
            bytes += row.key().length() + row.image().length;
          }
          owned.add(new CommitScript.Part(session.keys, rows));
        }
      }
      if (!owned.isEmpty()) {
        send(new CommitScript.Arguments(walId, sequence, dueMillis.getAsLong(), owned), bytes);
        sent++;
      }
    }

    private void send(CommitScript.Arguments commit, int bytes) {
      inFlight.add(new Sent(CommitScript.send(redis, commit), commit, bytes));
      bytesInFlight += bytes;
      if (++unflushed == FLUSH_EVERY) {
        flush();
      }
      while (inFlight.size() > MOST_IN_FLIGHT || bytesInFlight > MOST_BYTES_IN_FLIGHT) {
        awaitFirst();
      }
    }

    private void flush() {
      redis.flushCommands();
      unflushed = 0;
    }

    private void awaitFirst() {
      flush();
      Sent first = inFlight.remove();
      bytesInFlight -= first.bytes;
      List<Object> reply = reply(first);
      if (reply != null && (Long) reply.get(0) == 0) {
        refused(first.commit, ((Long) reply.get(1)).intValue());
      }
    }

    /** Null when somebody else broke the key: then no commit can be put there. */
    private @Nullable List<Object> reply(Sent of) {
      try {
        return of.reply.toCompletableFuture().join();
      } catch (CompletionException e) {
        String message = RedisReply.answered(e);
        if (message != null && message.startsWith("WRONGTYPE")) {
          LOG.error("cannot replay WAL record {}: {}", of.commit.sequence(), message);
          return null;
        }
        throw new GameQueueException(
            "the replay stopped at WAL record " + of.commit.sequence() + ": " + e.getMessage(), e);
      }
    }

    /** One of its sessions was lost or forgotten meanwhile: the others' rows are still replayed. */
    private void refused(CommitScript.Arguments commit, int part) {
      SessionKeys keys = commit.parts().get(part).keys();
      Session session =
          sessions.get(name(LuaScript.string(keys.owner), LuaScript.string(keys.session)));
      if (session == null || !owns(session.ref)) {
        List<CommitScript.Part> others = new ArrayList<>(commit.parts());
        others.remove(part);
        if (others.isEmpty()) {
          return;
        }
        send(new CommitScript.Arguments(walId, commit.sequence(), commit.dueMillis(), others), 0);
      } else {
        send(commit, 0);
      }
    }

    private boolean owns(SessionRef session) {
      redis.setAutoFlushCommands(true);
      try {
        return stillOwns.test(session);
      } finally {
        redis.setAutoFlushCommands(false);
      }
    }

    void finish() {
      while (!inFlight.isEmpty()) {
        awaitFirst();
      }
      if (found < owed.length) {
        LOG.error(
            "{} of {} records that Redis lost cannot be read from the WAL {}: see 'gameq-recovery inspect'",
            owed.length - found,
            owed.length,
            wal.directory());
      }
    }
  }
}

package io.gameq.healing;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionRef;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SessionKeys;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitScript;
import io.gameq.redis.script.LuaScript;
import io.gameq.rows.RowCodec;
import io.gameq.wal.WalReader;
import io.gameq.wal.WalRecord;
import io.gameq.wal.WalWriter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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
public final class WalReplay {
  private static final Logger LOG = LoggerFactory.getLogger(WalReplay.class);

  /** Scripts on their way at a time; more only takes memory. */
  private static final int MOST_IN_FLIGHT = 256;

  private static final int MOST_BYTES_IN_FLIGHT = 4 << 20;
  private static final int FLUSH_EVERY = 64;

  /** How long other nodes that heal at the same time are waited for. */
  private static final long MOST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long ASK_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final ReplaySource wal;
  private final byte[] walId;
  private final LongSupplier dueMillis;
  private final LostHalves halves;

  private RecordsToReplay owed = RecordsToReplay.NOTHING;

  public WalReplay(WalWriter wal, LongSupplier dueMillis, LostHalves halves) {
    this(ReplaySource.of(wal), wal.id(), dueMillis, halves);
  }

  WalReplay(ReplaySource wal, String walId, LongSupplier dueMillis, LostHalves halves) {
    this.wal = wal;
    this.walId = SlotKeys.bytes(walId);
    this.dueMillis = dueMillis;
    this.halves = halves;
  }

  /**
   * Has the next run send everything that is not known to be in MySQL: Redis lost something, and
   * took commits since then. Noted at once: a notice about those commits says nothing of older ones
   * that are lost.
   */
  public void distrustMarks(Collection<HeldSession> sessions) {
    owed = owed.distrustingMarks().plusLost(sessions, slot -> 0);
    sessions.forEach(of -> of.unsettled().doubt());
  }

  /**
   * Notes what Redis has lost, by the journal marks. To be called before any session is
   * re-asserted, for the same reason.
   */
  void noteLost(RedisConnection redis, Collection<HeldSession> sessions) {
    owed = owed.plusLost(sessions, slot -> mark(redis, slot));
  }

  /**
   * What a replay did.
   *
   * @param sent records
   * @param givenUp records that are not replayed for good: trades of which one half is lost with
   *     its session and adopted by none, and what the WAL cannot give back
   */
  record Result(long sent, Set<Long> givenUp) {
    static final Result NOTHING = new Result(0, Set.of());
  }

  private record Sent(
      CompletionStage<List<Object>> reply, CommitScript.Arguments commit, int bytes) {}

  /**
   * Replays what was {@linkplain #noteLost noted}, of sessions that still own.
   *
   * @param sessions all of this node, lost ones too
   * @param stillOwns asks MySQL, and tells Redis if so
   * @param whole tells Redis that it has all again but for trades that are to be decided: other
   *     nodes may wait for that as this one waits for them
   * @throws GameQueueException when Redis goes away, has no room, or forgets a session again; then
   *     all is still owed
   */
  Result run(
      RedisConnection redis,
      Collection<HeldSession> sessions,
      Predicate<SessionRef> stillOwns,
      Runnable whole) {
    if (owed.sequences().length == 0) {
      return Result.NOTHING;
    }
    CommitScript.load(redis);
    Run run;
    redis.flushesByItself(false);
    wal.hold();
    try {
      run = new Run(redis, byName(sessions), owed.sequences(), stillOwns);
      run.readAll();
      run.finish();
    } finally {
      wal.release();
      redis.flushesByItself(true);
    }
    if (!run.undecided.isEmpty()) {
      owed = RecordsToReplay.of(union(run.undecided.keySet(), run.givenUp));
      whole.run();
      run.decide();
    }
    owed = RecordsToReplay.NOTHING;
    return new Result(run.sent, Set.copyOf(run.givenUp));
  }

  /** WAL sequences of which a lost session may have a half that nobody holds. */
  private static Set<Long> doubtful(Collection<HeldSession> sessions) {
    Set<Long> doubtful = new HashSet<>();
    sessions.stream()
        .filter(of -> of.ref().isLost())
        .forEach(of -> of.unsettled().doubtful(doubtful::add));
    return doubtful;
  }

  private static Set<Long> union(Set<Long> some, Set<Long> more) {
    Set<Long> all = new HashSet<>(some);
    all.addAll(more);
    return all;
  }

  private static String name(String owner, String session) {
    return owner + " " + session;
  }

  static Map<String, HeldSession> byName(Collection<HeldSession> sessions) {
    Map<String, HeldSession> byName = new HashMap<>();
    sessions.forEach(of -> byName.put(name(of.ref().owner().encoded(), of.ref().id().text()), of));
    return byName;
  }

  /** Parts of sessions that do not own any more, or have nothing to settle, are left out. */
  static List<CommitScript.Part> owned(
      List<WalRecord.Part> parts, Map<String, HeldSession> sessions) {
    List<CommitScript.Part> owned = new ArrayList<>();
    for (WalRecord.Part part : parts) {
      HeldSession session = sessions.get(name(part.owner(), part.session()));
      if (session != null && !session.ref().isLost()) {
        List<byte[]> rows = new ArrayList<>(2 * part.rows().size());
        for (WalRecord.Row row : part.rows()) {
          rows.add(SlotKeys.bytes(row.key()));
          rows.add(row.image());
        }
        owned.add(new CommitScript.Part(session.keys(), rows));
      }
    }
    return owned;
  }

  private long mark(RedisConnection redis, SlotKeys slot) {
    return mark(redis, slot, walId);
  }

  /** The newest sequence of a WAL that Redis holds in a slot; 0 when it knows none. */
  static long mark(RedisConnection redis, SlotKeys slot, byte[] walId) {
    byte[] mark = RedisReply.await(() -> redis.sync().hget(slot.journal(), walId));
    return mark == null ? 0 : Long.parseLong(LuaScript.string(mark));
  }

  /** One pass over the WAL. */
  private final class Run {
    private final RedisConnection redis;
    private final Map<String, HeldSession> sessions;
    private final long[] owed;
    private final long[] places; // of these records in the WAL
    private final Predicate<SessionRef> stillOwns;
    private final Deque<Sent> inFlight = new ArrayDeque<>();
    private final Set<Long> doubtful;
    private final Set<Long> givenUp = new HashSet<>();
    private final Map<Long, List<WalRecord.Part>> undecided = new LinkedHashMap<>();
    private int bytesInFlight;
    private int unflushed;
    private int next;
    private int end; // of the stretch that is being read
    private long sent;

    Run(
        RedisConnection redis,
        Map<String, HeldSession> sessions,
        long[] owed,
        Predicate<SessionRef> stillOwns) {
      this.redis = redis;
      this.sessions = sessions;
      this.owed = LongStream.of(owed).filter(record -> wal.place(record) > 0).toArray();
      this.places = LongStream.of(this.owed).map(wal::place).toArray();
      this.stillOwns = stillOwns;
      this.doubtful = doubtful(sessions.values());
    }

    /**
     * In the order of the sequences. Records that were carried forward stand behind later ones: so
     * the WAL is read in as many stretches as it takes.
     */
    void readAll() {
      while (next < owed.length) {
        int from = next;
        end = from + 1;
        while (end < owed.length && places[end] > places[end - 1]) {
          end++;
        }
        WalReader.read(wal.directory(), places[from], places[end - 1], this::take);
        while (next < end) {
          unreadable(owed[next++]);
        }
      }
    }

    private void take(WalReader.Entry entry) {
      while (next < end && places[next] < entry.place()) {
        unreadable(owed[next++]);
      }
      if (next < end && places[next] == entry.place()) {
        next++;
        if (entry.record() instanceof WalRecord.Committed committed) {
          sendWhole(entry.sequence(), committed.parts());
        } else if (entry.record() instanceof WalRecord.Adopted adopted) {
          send(entry.sequence(), List.of(adopted.part()));
        }
      }
    }

    private void unreadable(long sequence) {
      LOG.error(
          "Redis lost WAL record {}, and the WAL {} cannot give it back: see 'gameq-recovery"
              + " inspect'",
          sequence,
          wal.directory());
      givenUp.add(sequence);
    }

    /** Half a trade would make something twice, or destroy it. */
    private void sendWhole(long sequence, List<WalRecord.Part> parts) {
      if (parts.size() > 1 && doubtful.contains(sequence)) {
        undecided.put(sequence, parts);
        parts.forEach(part -> doubt(sequence, part)); // before anything later is sent
      } else {
        send(sequence, parts);
      }
    }

    private void doubt(long sequence, WalRecord.Part part) {
      HeldSession session = sessions.get(name(part.owner(), part.session()));
      if (session != null) {
        session.unsettled().doubt(sequence, part.rows().stream().map(WalRecord.Row::key).toList());
      }
    }

    /**
     * Sends this node's half of trades whose other half somebody else turns out to hold, and gives
     * the rest up. Later changes of its rows may be there already: versions are compared.
     */
    void decide() {
      long start = System.nanoTime();
      while (true) {
        boolean isLast = System.nanoTime() - start >= MOST_WAIT_NANOS;
        undecided.entrySet().removeIf(of -> decide(of.getKey(), of.getValue(), isLast));
        if (undecided.isEmpty()) {
          finish();
          return;
        }
        LockSupport.parkNanos(ASK_EVERY_NANOS);
      }
    }

    private boolean decide(long sequence, List<WalRecord.Part> parts, boolean isLast) {
      LostHalves.Place place = LostHalves.Place.THERE;
      for (WalRecord.Part part : parts) {
        HeldSession session = sessions.get(name(part.owner(), part.session()));
        if (place == LostHalves.Place.THERE && (session == null || session.ref().isLost())) {
          place = halves.find(redis, OwnerId.ofEncoded(part.owner()), versions(part));
        }
      }
      switch (place) {
        case THERE -> send(sequence, parts);
        case MAY_COME -> {
          if (isLast) {
            givenUp.add(sequence);
          }
          return isLast;
        }
        case NOWHERE -> givenUp.add(sequence);
      }
      return true;
    }

    private static Map<String, Long> versions(WalRecord.Part part) {
      Map<String, Long> versions = new HashMap<>();
      part.rows().forEach(row -> versions.put(row.key(), RowCodec.version(row.image())));
      return versions;
    }

    private void send(long sequence, List<WalRecord.Part> parts) {
      List<CommitScript.Part> owned = owned(parts, sessions);
      if (!owned.isEmpty()) {
        int bytes =
            owned.stream()
                .flatMap(part -> part.rows().stream())
                .mapToInt(keyOrImage -> keyOrImage.length)
                .sum();
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
      redis.flush();
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

    /**
     * A session was lost meanwhile, or forgotten again: then all begins anew, since later records
     * must not get there before this one.
     */
    private void refused(CommitScript.Arguments commit, int part) {
      SessionKeys keys = commit.parts().get(part).keys();
      HeldSession session =
          sessions.get(name(LuaScript.string(keys.owner), LuaScript.string(keys.session)));
      if (session != null && owns(session.ref())) {
        throw new GameQueueException("Redis forgot session " + session.ref() + " again");
      }
      if (commit.parts().size() > 1) {
        givenUp.add(commit.sequence());
      }
    }

    private boolean owns(SessionRef session) {
      redis.flushesByItself(true);
      try {
        return stillOwns.test(session);
      } finally {
        redis.flushesByItself(false);
      }
    }

    void finish() {
      while (!inFlight.isEmpty()) {
        awaitFirst();
      }
    }
  }
}

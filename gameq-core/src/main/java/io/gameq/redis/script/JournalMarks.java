package io.gameq.redis.script;

import io.gameq.change.Commit;
import io.gameq.redis.ControlConnection;
import io.gameq.redis.RedisClock;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.lettuce.core.KeyValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The journal marks of one WAL, as they were read: how far into it Redis holds each slot, rows and
 * messages alike. Immutable.
 *
 * <p>A mark is one number: a sequence, and a checksum of it in the low bits. Each call moves the
 * mark from that of the call before it to its own, by addition. So a mark proves that Redis holds
 * all up to its sequence: where something beneath was lost, by an emptied Redis or a failover, and
 * calls were added since, the sum has the wrong checksum (but for one in a million) until the node
 * has healed. A refused commit is decided: later calls move the mark past it.
 */
public final class JournalMarks {
  private static final Logger LOG = LoggerFactory.getLogger(JournalMarks.class);

  /** Leaves 43 bits for sequences: a million commits a second for a hundred days. */
  private static final int CHECK_BITS = 20;

  private static final String REFUSED = "!";

  /** Follows a WAL's id where it stands when its process was first seen to be gone, in seconds. */
  private static final String SEEN_DEAD = "@";

  /**
   * Of a node that is gone: longer than the messages of its WAL are put back. MySQL remembers for
   * as long at least whose rows count of them ({@code TombstoneHorizon.HANDLED_KEPT}).
   */
  public static final Duration KEPT = Duration.ofDays(7);

  private static final LuaScript WRITING = LuaScript.of(JournalMarks.class, "marks.lua");

  private final long[] marks;
  private final long[] sequences;
  private final List<Answer> answers;

  private JournalMarks(long[] marks, List<Answer> answers) {
    this(marks, Arrays.stream(marks).map(JournalMarks::sequence).toArray(), answers);
  }

  private JournalMarks(long[] marks, long[] sequences, List<Answer> answers) {
    this.marks = marks;
    this.sequences = sequences;
    this.answers = answers;
  }

  /**
   * What was answered to calls whose answer may be lost: a commit was refused, or those that
   * publish among several, or one was taken after all.
   */
  private record Answer(long first, long last, boolean isOfPublishes, boolean isTaken) {
    static Answer parse(String text) {
      int dash = text.indexOf('-');
      boolean isTaken = text.startsWith("+");
      long first = Long.parseLong(text.substring(isTaken ? 1 : 0, dash < 0 ? text.length() : dash));
      return new Answer(
          first, dash < 0 ? first : Long.parseLong(text.substring(dash + 1)), dash >= 0, isTaken);
    }

    boolean isOf(long sequence) {
      return first <= sequence && sequence <= last;
    }
  }

  /** Of a WAL of which Redis has nothing. */
  public static JournalMarks none(int slots) {
    return new JournalMarks(new long[slots], List.of());
  }

  /**
   * Marks as Redis holds them.
   *
   * @param refused what it holds beside them; empty for nothing
   */
  public static JournalMarks parse(List<String> marks, String refused) {
    return new JournalMarks(
        marks.stream().mapToLong(JournalMarks::number).toArray(),
        refused.isEmpty()
            ? List.of()
            : Arrays.stream(refused.split(" ", -1)).map(Answer::parse).toList());
  }

  /** What somebody else wrote proves nothing. */
  private static long number(String mark) {
    try {
      return Long.parseLong(mark);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** The same marks, by which all up to these sequences is known to be held. */
  JournalMarks proving(long[] proven) {
    return new JournalMarks(marks, proven, answers);
  }

  /** The mark of a sequence; 0 of none. */
  static long of(long sequence) {
    return sequence == 0 ? 0 : sequence << CHECK_BITS | check(sequence);
  }

  /** The sequence up to which a mark proves that Redis holds all; 0 when it proves nothing. */
  static long sequence(long mark) {
    long sequence = mark >> CHECK_BITS;
    return of(sequence) == mark ? sequence : 0;
  }

  /** Bits that look random: those of SplitMix64. */
  private static long check(long sequence) {
    long z = sequence * 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return (z ^ z >>> 31) & (1L << CHECK_BITS) - 1;
  }

  /** The sequence up to which Redis holds everything of a slot. */
  public long sequence(int slot) {
    return sequences[slot];
  }

  /** Whether Redis may lack what a commit changes in a slot. */
  public boolean lacks(int slot, long sequence) {
    return sequence > sequence(slot);
  }

  /** Whether a commit that has no answer, and is not lacking, was refused. */
  public boolean wasRefused(long sequence, boolean publishes) {
    return answers.stream()
            .anyMatch(of -> of.isOf(sequence) && !of.isTaken && (publishes || !of.isOfPublishes))
        && answers.stream().noneMatch(of -> of.isOf(sequence) && of.isTaken);
  }

  /** As it stands in Redis; 0 where it has none. */
  long mark(int slot) {
    return marks[slot];
  }

  @Override
  public String toString() {
    return Arrays.toString(marks) + Arrays.toString(sequences) + answers;
  }

  /**
   * Reads the marks of a WAL in all slots, in one go over a connection that no other thread uses
   * meanwhile.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer
   */
  public static JournalMarks read(RedisConnection redis, SlotKeys[] slots, String walId) {
    List<CompletionStage<List<KeyValue<byte[], byte[]>>>> sent = new ArrayList<>();
    byte[][] fields = {SlotKeys.bytes(walId), SlotKeys.bytes(walId + REFUSED)};
    redis.inOneGo(
        () -> {
          for (SlotKeys slot : slots) {
            sent.add(redis.async().hmget(slot.journal(), fields));
          }
        });
    List<String> marks = new ArrayList<>();
    StringJoiner refused = new StringJoiner(" ");
    for (CompletionStage<List<KeyValue<byte[], byte[]>>> of : sent) {
      List<KeyValue<byte[], byte[]>> found = RedisReply.await(of);
      marks.add(found.get(0).hasValue() ? LuaScript.string(found.get(0).getValue()) : "0");
      if (found.get(1).hasValue()) {
        refused.add(LuaScript.string(found.get(1).getValue()));
      }
    }
    return parse(marks, refused.toString());
  }

  /**
   * Writes marks of sequences where these differ from what was read: Redis holds all of the slots
   * up to there, or what it does not hold was decided. Throws as {@link #read}.
   *
   * @param sequences by slot; negative to leave a mark as it is
   * @return the marks as they are now
   */
  public JournalMarks write(
      RedisConnection redis, SlotKeys[] slots, String walId, long[] sequences) {
    long[] now = marks.clone();
    List<byte[]> keys = new ArrayList<>();
    List<Object> args = new ArrayList<>(List.of(walId));
    for (int slot = 0; slot < now.length; slot++) {
      if (sequences[slot] >= 0 && of(sequences[slot]) != now[slot]) {
        now[slot] = of(sequences[slot]);
        keys.add(SlotKeys.bytes(slots[slot].prefix()));
        args.add(now[slot]);
      }
    }
    if (!keys.isEmpty()) {
      List<Object> unused = WRITING.call(redis, keys.toArray(byte[][]::new), args);
    }
    return new JournalMarks(now, answers);
  }

  /** Removes the marks of a WAL; returns in how many slots there were any. */
  public static int forget(RedisConnection redis, SlotKeys[] slots, String walId) {
    List<CompletionStage<Long>> removed = new ArrayList<>();
    for (SlotKeys slot : slots) {
      removed.add(redis.async().hdel(slot.journal(), fields(walId)));
    }
    return (int) removed.stream().filter(of -> RedisReply.await(of) > 0).count();
  }

  /**
   * Removes the marks of processes that have given no sign of life for seven days: until then their
   * WALs may be replayed, and messages that were handled are not to come back. Returns how many.
   *
   * @throws io.gameq.RedisUnavailableException when Redis does not answer; what was removed stays
   *     removed
   */
  public static int forgetDead(ControlConnection control, String namespace, SlotKeys[] slots) {
    int removed = 0;
    for (SlotKeys slot : slots) {
      removed += control.call(redis -> RedisReply.await(() -> forgetDead(redis, namespace, slot)));
    }
    if (removed > 0) {
      LOG.info("removed {} journal marks of nodes that are gone", removed);
    }
    return removed;
  }

  private static int forgetDead(RedisConnection redis, String namespace, SlotKeys slot) {
    Map<String, Long> seenDead = new HashMap<>();
    redis
        .sync()
        .hgetall(slot.journal())
        .forEach(
            (field, value) -> {
              String name = LuaScript.string(field);
              boolean isStamp = name.endsWith(SEEN_DEAD);
              String walId = name.replace(REFUSED, "").replace(SEEN_DEAD, "");
              seenDead.merge(
                  walId, isStamp ? Long.parseLong(LuaScript.string(value)) : 0, Math::max);
            });
    long now = seenDead.isEmpty() ? 0 : RedisClock.now(redis) / 1_000;
    int removed = 0;
    for (Map.Entry<String, Long> wal : seenDead.entrySet()) {
      String process = NodeSigns.processOfWal(wal.getKey());
      byte[] stamp = SlotKeys.bytes(wal.getKey() + SEEN_DEAD);
      if (NodeSigns.sign(redis, namespace, process) != null) {
        if (wal.getValue() > 0) {
          redis.sync().hdel(slot.journal(), stamp);
        }
      } else if (wal.getValue() == 0) {
        redis.sync().hset(slot.journal(), stamp, SlotKeys.bytes(Long.toString(now)));
      } else if (now - wal.getValue() > KEPT.toSeconds()) {
        redis.sync().hdel(slot.journal(), fields(wal.getKey()));
        removed++;
      }
    }
    return removed;
  }

  private static byte[][] fields(String walId) {
    return new byte[][] {
      SlotKeys.bytes(walId), SlotKeys.bytes(walId + REFUSED), SlotKeys.bytes(walId + SEEN_DEAD)
    };
  }

  /**
   * The journal marks of a node's own WAL, as its sender knows them: what each call expects of
   * Redis, and whether the answer fits. Used by the sender's thread.
   */
  public static final class SlotMarks {
    private static final long LOST = -1;

    /** As Redis told last; {@link #LOST} once it has told another one than it should. */
    private final long[] told;

    /** As they will be once all that is on its way has arrived. */
    private final long[] expected;

    /** The newest sequence that was answered, whatever the answer. */
    private final long[] answered;

    /**
     * Up to which Redis holds all, or it is decided, while its mark is as told: as far as was
     * answered, but for what a healing has found missing and not put back yet.
     */
    private final long[] held;

    private JournalMarks read;

    /** Of a WAL of which nothing was sent. */
    public SlotMarks(int slots) {
      told = new long[slots];
      expected = new long[slots];
      answered = new long[slots];
      held = new long[slots];
      read = JournalMarks.none(slots);
    }

    /** The same as another, from then on apart from it. */
    public SlotMarks(SlotMarks other) {
      told = other.told.clone();
      expected = other.expected.clone();
      answered = other.answered.clone();
      held = other.held.clone();
      read = other.read;
    }

    /**
     * A WAL begins: up to this sequence it holds nothing for Redis. Once the marks that are settled
     * then are written, a Redis that is emptied shows it by what comes first.
     */
    public void begin(long sequence) {
      Arrays.fill(answered, sequence);
      Arrays.fill(held, sequence);
    }

    /**
     * What a call expects of a slot.
     *
     * @param least mark before it: what Redis has told by now; with less it has lost something
     * @param before the mark once all before it has arrived; with more the call comes too late
     * @param delta by how much the call moves the mark
     * @param last the newest sequence of the call in that slot
     */
    public record Move(int slot, long least, long before, long delta, long last) {
      void write(List<byte[]> to) {
        to.add(LuaScript.number(least));
        to.add(LuaScript.number(before));
        to.add(LuaScript.number(delta));
      }
    }

    /** Marks in the answer of a script. */
    static List<Long> marks(Object reply) {
      return ((List<?>) reply)
          .stream().map(mark -> Long.parseLong(LuaScript.string(mark))).toList();
    }

    /** Sends a call to a slot, whose newest commit is {@code last}. */
    public Move next(int slot, long last) {
      long before = expected[slot];
      long delta = Math.max(0, JournalMarks.of(last) - before);
      expected[slot] = before + delta;
      return new Move(slot, told[slot], before, delta, last);
    }

    /** The same of what overtakes others, and so may not move the mark past them. */
    public Move aside(int slot, long last) {
      return new Move(slot, told[slot], expected[slot], 0, last);
    }

    /**
     * Redis took a call, and told the mark before it. Returns whether that is the one that it told
     * last: else it has lost something beneath this connection.
     */
    public boolean taken(Move of, long before) {
      boolean fits = before == told[of.slot];
      told[of.slot] = fits ? before + of.delta : LOST;
      answered(of);
      return fits;
    }

    /** Redis refused all of a call: it did not move the mark. The next call makes up for it. */
    public void refused(Move of) {
      expected[of.slot] -= of.delta;
      answered(of);
    }

    private void answered(Move of) {
      boolean isAllHeld = held[of.slot] >= answered[of.slot];
      answered[of.slot] = Math.max(answered[of.slot], of.last);
      if (isAllHeld) {
        held[of.slot] = answered[of.slot];
      }
    }

    /**
     * A healing has read, or written, the marks; nothing is on its way. A mark that is as Redis
     * told last proves that it has all that it had then, also where refused calls left it without a
     * checksum.
     */
    public void read(JournalMarks marks) {
      long[] proven = new long[told.length];
      Arrays.setAll(
          proven,
          slot ->
              marks.mark(slot) == told[slot]
                  ? Math.max(held[slot], marks.sequence(slot))
                  : marks.sequence(slot));
      read = marks.proving(proven);
      for (int slot = 0; slot < told.length; slot++) {
        told[slot] = marks.mark(slot);
        expected[slot] = told[slot];
        held[slot] = proven[slot];
      }
    }

    /** Notes which commits without an answer Redis has not taken, by the marks that were read. */
    public void noteNotTaken(JournalMarks marks, Collection<Commit> unanswered) {
      for (Commit commit : unanswered) {
        if (slotsOf(commit).stream().anyMatch(slot -> marks.lacks(slot, commit.sequence()))) {
          commit.setNotTaken();
        }
      }
    }

    /**
     * The marks as a healing has read, or written, them last; where calls have moved them since, as
     * Redis holds them now.
     */
    public JournalMarks read() {
      return new JournalMarks(told.clone(), read.sequences, read.answers);
    }

    /**
     * The sequence up to which all of each slot is in Redis or decided, once what was lost is put
     * back.
     *
     * @param open commits that Redis has not taken and that are to be sent: newer ones may have
     *     overtaken them
     */
    public long[] settled(Stream<Commit> open) {
      long[] settled = new long[told.length];
      Arrays.setAll(settled, slot -> Math.max(answered[slot], read.sequence(slot)));
      open.forEach(
          commit -> {
            for (int slot : slotsOf(commit)) {
              settled[slot] = Math.min(settled[slot], commit.sequence() - 1);
            }
          });
      return settled;
    }

    /** By slot: the newest sequence that was answered; 0 for none. */
    public long[] answered() {
      return answered.clone();
    }

    /** The slots in which a commit changes rows or messages, in order. */
    static Set<Integer> slotsOf(Commit commit) {
      Set<Integer> slots = new TreeSet<>();
      commit.parts().forEach(of -> slots.add(of.session().slot()));
      commit.messages().forEach(of -> slots.add(of.slot()));
      return slots;
    }

    @Override
    public String toString() {
      return Arrays.toString(told)
          + Arrays.toString(expected)
          + Arrays.toString(answered)
          + Arrays.toString(held)
          + read;
    }
  }
}

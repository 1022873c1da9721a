package io.gameq.redis.script;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.RedisFullException;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.Ack;
import io.gameq.message.MessageChange.Delete;
import io.gameq.message.MessageChange.Expect;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.message.MessageChange.Publish;
import io.gameq.message.MessageChange.Retime;
import io.gameq.redis.RedisConnection;
import io.gameq.redis.RedisReply;
import io.gameq.redis.SlotKeys;
import io.gameq.redis.script.CommitScript.ScriptCommit;
import io.gameq.redis.script.JournalMarks.SlotMarks;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code messages.lua}: many commits that change messages and no rows. Stateless.
 *
 * <p>The script holds Redis for about three microseconds a change: at most some 1,000 changes and 1
 * MB a call.
 */
public final class MessagesScript {
  private static final LuaScript SCRIPT =
      LuaScript.of(MessagesScript.class, "topic.lua", "batches.lua", "journal.lua", "messages.lua");

  /** Of up to 1 MiB each. */
  private static final int GIVEN_BACK_AT_ONCE = 20;

  private static final Logger LOG = LoggerFactory.getLogger(MessagesScript.class);

  private MessagesScript() {}

  /** How {@code batches.lua} is to take commits, in the order of its numbers. */
  public enum Mode {
    /** For the first time: order of arrival counts. */
    FIRST(0),
    /** Its answer was lost, and something newer may have come: versions count. */
    AGAIN(1),
    /** Out of a WAL: versions count, and tokens do not. */
    REPLAY(2);

    private final int number;

    Mode(int number) {
      this.number = number;
    }

    byte[] word() {
      return LuaScript.number(number);
    }
  }

  /**
   * What a call with commits of a WAL tells of it.
   *
   * @param walId empty of a replay, which moves no journal marks
   * @param open the oldest sequence that waits for an answer
   * @param dueMillis when rows are due, ms by the clock of Redis
   * @param slots all of the namespace, by number
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  public record WalCall(byte[] walId, Mode mode, long open, long dueMillis, SlotKeys[] slots) {
    /** Out of a WAL. */
    public static WalCall ofReplay(SlotKeys[] slots, long dueMillis) {
      return new WalCall(new byte[0], Mode.REPLAY, 0, dueMillis, slots);
    }

    long due(boolean isUrgent) {
      return isUrgent ? SessionScripts.urgent(dueMillis) : dueMillis;
    }
  }

  /**
   * What Redis answered.
   *
   * @param fits whether the journal marks were as expected; else nothing was applied: Redis has
   *     lost something
   * @param marks that were there before, in the order of the moves
   * @param refused commits of which nothing was written
   */
  public record Answer(boolean fits, List<Long> marks, List<Refused> refused) {}

  /** Why a commit was refused. */
  public enum Kind {
    /** The token of an acknowledgement is not that of the claim any more. */
    CLAIM_LOST,
    /** A message is not what was expected. */
    CHANGED,
    /** Redis reached maxmemory. */
    FULL,
    /** Somebody else wrote something else there. */
    WRONG_TYPE
  }

  /**
   * A commit of which nothing was written.
   *
   * @param commit its number in the call, from 0
   * @param text which message, as {@code topic/id}; of {@link Kind#WRONG_TYPE} Redis' words
   */
  public record Refused(int commit, Kind kind, String text) {}

  /** Has Redis know the script; see {@link #send}. */
  public static void load(RedisConnection redis) {
    SCRIPT.load(redis);
  }

  /**
   * Sends commits in order of their sequences, by SHA-1; the script was {@linkplain #load loaded}
   * on this connection. The stage fails as the client's calls do: when Redis answered an error,
   * nothing of the call was applied.
   *
   * @param moves of the journal marks, one for each slot in the order in which commits touch them;
   *     none of a replay
   */
  public static CompletionStage<Answer> send(
      RedisConnection redis, WalCall of, List<SlotMarks.Move> moves, List<ScriptCommit> commits) {
    Map<Integer, Integer> places = new LinkedHashMap<>();
    boolean publishes = false;
    for (ScriptCommit commit : commits) {
      for (MessageChange change : commit.messages()) {
        places.putIfAbsent(change.slot(), places.size() + 1);
        publishes |= change instanceof Publish;
      }
    }
    MessageBatches batches = new MessageBatches(places);
    for (int i = 0; i < commits.size(); i++) {
      if (of.mode == Mode.FIRST) {
        batches.add(commits.get(i), i);
      } else {
        batches.addWhole(commits.get(i), i);
      }
    }
    List<byte[]> args = new ArrayList<>(16 + 6 * commits.size());
    args.add(of.walId);
    args.add(of.mode.word());
    args.add(SlotKeys.bytes(publishes ? "1" : "0"));
    args.add(LuaScript.number(commits.get(0).sequence()));
    args.add(LuaScript.number(commits.get(commits.size() - 1).sequence()));
    args.add(LuaScript.number(of.open));
    moves.forEach(move -> move.write(args));
    batches.write(args);
    List<byte[]> keys = new ArrayList<>();
    places.keySet().forEach(slot -> keys.add(SlotKeys.bytes(of.slots[slot].prefix())));
    return SCRIPT.send(redis, keys, args).thenApply(reply -> answer(reply, batches));
  }

  /**
   * Publishes messages again whose handlers' rows turned out not to count, each unless something as
   * new of its key is pending or held.
   *
   * @throws RedisFullException when Redis has no room; some may be there
   * @throws io.gameq.RedisUnavailableException when Redis does not answer: as well
   */
  public static void giveBack(RedisConnection redis, SlotKeys[] slots, List<Publish> messages) {
    SCRIPT.load(redis);
    WalCall call = new WalCall(new byte[0], Mode.AGAIN, 0, 0, slots); // replaces no newer
    for (List<Publish> some : LuaScript.pieces(messages, GIVEN_BACK_AT_ONCE)) {
      List<ScriptCommit> commits = new ArrayList<>();
      for (Publish of : some) {
        commits.add(new ScriptCommit(0, 0, List.of(of)));
      }
      for (Refused of : RedisReply.await(send(redis, call, List.of(), commits)).refused()) {
        if (of.kind == Kind.FULL) {
          throw new RedisFullException(
              "Redis reached maxmemory: messages cannot be given back yet");
        }
        LOG.error("cannot give message {} back: {}", some.get(of.commit).id(), of.text());
      }
    }
  }

  private static Answer answer(List<Object> reply, MessageBatches batches) {
    if ((Long) reply.get(0) == 0) {
      return new Answer(false, List.of(), List.of());
    }
    Map<Integer, Refused> refused = new TreeMap<>();
    List<?> words = (List<?>) reply.get(2);
    for (int i = 0; i < words.size(); i += 4) {
      Kind kind = kind(LuaScript.string(words.get(i + 2)));
      String text = LuaScript.string(words.get(i + 3));
      for (int commit : batches.commits((Long) words.get(i), (Long) words.get(i + 1))) {
        refused.putIfAbsent(commit, new Refused(commit, kind, text));
      }
    }
    return new Answer(true, SlotMarks.marks(reply.get(1)), List.copyOf(refused.values()));
  }

  private static Kind kind(String word) {
    return switch (word) {
      case "claim" -> Kind.CLAIM_LOST;
      case "changed" -> Kind.CHANGED;
      case "full" -> Kind.FULL;
      default -> Kind.WRONG_TYPE;
    };
  }

  /**
   * Sorts changes of messages into batches: those of one lane stay in order, others change places.
   * Not thread-safe.
   */
  static final class MessageBatches {
    /** So many go into one command of Redis: Lua's unpack fails near 8,000. */
    private static final int MOST = 1_000;

    /** Where the time of the first publish stands in a value, and ends. */
    private static final int SINCE = 16;

    private static final int SINCE_END = SINCE + 8;

    /** Where the length of the schedule stands in a value. */
    private static final int SCHEDULE_LENGTH = 28;

    private static final byte[] ZERO = SlotKeys.bytes("0");
    private static final byte[] ONE = SlotKeys.bytes("1");

    /** What all changes of a batch have in common; {@code slot} counts from 1. */
    record BatchKind(
        char letter, int slot, String topic, boolean isGrouped, boolean keepsTime, long capMillis) {
      /** Of a commit by itself, which is applied or refused as a whole. */
      static final BatchKind WHOLE = new BatchKind('c', 0, "", false, false, 0);

      static BatchKind of(MessageChange change, int slot) {
        boolean isGrouped = change.id().id().indexOf(':') >= 0;
        String topic = change.id().topic();
        if (change instanceof Publish of) {
          return new BatchKind('p', slot, topic, isGrouped, of.keepsTime(), of.capMillis());
        }
        return new BatchKind(letter(change), slot, topic, isGrouped, false, 0);
      }

      private static char letter(MessageChange change) {
        return change instanceof Ack
            ? 'a'
            : change instanceof Retime ? 'r' : change instanceof Delete ? 'd' : 'e';
      }
    }

    private final Map<Integer, Integer> slots;
    private final List<Batch> batches = new ArrayList<>();
    private final Map<BatchKind, Batch> open = new HashMap<>();
    private final Map<MessageId, Batch> touched = new HashMap<>();

    /**
     * No batches yet.
     *
     * @param slots place of each slot in KEYS, from 1
     */
    MessageBatches(Map<Integer, Integer> slots) {
      this.slots = slots;
    }

    /** Adds a commit that is sent for the first time, the {@code number}th of its call. */
    void add(ScriptCommit commit, int number) {
      if (isSimple(commit.messages())) {
        addEach(commit, number);
      } else {
        addWhole(commit, number);
      }
    }

    /** One change, or publishes that are applied or refused together anyway. */
    private static boolean isSimple(List<MessageChange> changes) {
      MessageChange first = changes.get(0);
      if (changes.size() == 1) {
        return !(first instanceof Expect);
      }
      BatchKind kind = BatchKind.of(first, first.slot());
      return kind.letter == 'p'
          && changes.stream().allMatch(of -> BatchKind.of(of, of.slot()).equals(kind));
    }

    private void addEach(ScriptCommit commit, int number) {
      for (MessageChange change : commit.messages()) {
        add(change, Objects.requireNonNull(slots.get(change.slot())), commit, number);
      }
    }

    private void add(MessageChange change, int slot, ScriptCommit commit, int number) {
      BatchKind kind = BatchKind.of(change, slot);
      MessageId lane = lane(change.id());
      Batch batch = open.get(kind);
      Batch touchedBy = touched.get(lane);
      // Of several publishes of a message in one batch the later one stays.
      boolean inOrder = touchedBy == null || (touchedBy.equals(batch) && kind.letter == 'p');
      if (!inOrder || (batch != null && batch.items == MOST)) {
        close();
        batch = null;
      }
      if (batch == null) {
        batch = new Batch(kind);
        open.put(kind, batch);
        batches.add(batch);
      }
      batch.add(change, commit, number);
      touched.put(lane, batch);
    }

    /** Adds a commit that is applied or refused as a whole, the {@code number}th of its call. */
    void addWhole(ScriptCommit commit, int number) {
      Batch whole = new Batch(BatchKind.WHOLE);
      whole.commits.add(number);
      Set<MessageId> lanes = new HashSet<>();
      commit.messages().forEach(change -> lanes.add(lane(change.id())));
      if (lanes.stream().anyMatch(touched::containsKey)) {
        close();
      }
      lanes.forEach(lane -> touched.put(lane, whole));
      MessageBatches own = new MessageBatches(slots);
      own.addEach(commit, 0);
      whole.words.add(LuaScript.number(commit.sequence()));
      whole.words.add(LuaScript.number(own.batches.size()));
      own.write(whole.words);
      batches.add(whole);
    }

    /** What comes from now on comes after all before it. */
    private void close() {
      open.clear();
      touched.clear();
    }

    private static MessageId lane(MessageId id) {
      return id.id().indexOf(':') < 0 ? id : new MessageId(id.topic(), id.lane());
    }

    void write(List<byte[]> to) {
      batches.forEach(batch -> batch.write(to));
    }

    /** The commits that a refusal of an item means; of all of a batch when the item is -1. */
    List<Integer> commits(long batch, long item) {
      List<Integer> commits = batches.get((int) batch).commits;
      return item < 0 ? commits : commits.subList((int) item, (int) item + 1);
    }

    /**
     * Changes of one kind to messages of one topic in one slot, or a commit by itself, as {@code
     * batches.lua} reads them. Not thread-safe.
     */
    private static final class Batch {
      private final BatchKind kind;
      private final List<byte[]> words = new ArrayList<>();

      /** Of each item; publishes are refused together. */
      private final List<Integer> commits = new ArrayList<>();

      /** Of published messages, where each stands. */
      private final Map<String, Integer> places = new HashMap<>();

      private int items;

      Batch(BatchKind kind) {
        this.kind = kind;
      }

      void add(MessageChange change, ScriptCommit of, int commit) {
        commits.add(commit);
        if (change instanceof Publish publish) {
          publish(publish);
          return;
        }
        items++;
        if (change instanceof Expect expect) {
          words.add(expect.idBytes());
          words.add(LuaScript.version(expect.version()));
          return;
        }
        words.add(LuaScript.number(of.sequence()));
        words.add(change.idBytes());
        if (change instanceof Ack ack) {
          words.add(ack.token().getBytes(US_ASCII));
          words.add(
              ack.nextDueMillis() == 0 && ack.occurrenceMillis() == 0
                  ? ZERO
                  : SlotKeys.bytes(ack.nextDueMillis() + " " + ack.occurrenceMillis()));
          words.add(LuaScript.version(ack.handledVersion()));
          return;
        }
        if (change instanceof Retime retime) {
          words.add(LuaScript.number(retime.dueMillis()));
        }
        words.add(LuaScript.version(of.version()));
      }

      private void publish(Publish of) {
        long due = of.dueMillis();
        if (of.capMillis() > 0) {
          due = Math.min(due, (long) ByteBuffer.wrap(of.value()).getDouble(SINCE) + of.capMillis());
        }
        Integer place = places.putIfAbsent(of.id().id(), items);
        if (place == null) {
          items++;
          words.add(of.idBytes());
          words.add(LuaScript.number(due));
          words.add(of.value());
          return;
        }
        int at = 3 * place;
        if (of.keepsTime()) {
          due = Math.min(due, Long.parseLong(new String(words.get(at + 1), US_ASCII)));
        }
        words.set(at + 1, LuaScript.number(due));
        words.set(at + 2, over(words.get(at + 2), of.value()));
      }

      /** As the script does it to a pending one: the time of the first publish stays. */
      private static byte[] over(byte[] before, byte[] value) {
        if (isRecurring(before) || isRecurring(value)) {
          return value;
        }
        byte[] merged = value.clone();
        System.arraycopy(before, SINCE, merged, SINCE, SINCE_END - SINCE);
        return merged;
      }

      private static boolean isRecurring(byte[] value) {
        return value[SCHEDULE_LENGTH] != 0 || value[SCHEDULE_LENGTH + 1] != 0;
      }

      void write(List<byte[]> to) {
        to.add(SlotKeys.bytes(String.valueOf(kind.letter)));
        if (kind.letter != BatchKind.WHOLE.letter) {
          to.add(LuaScript.number(kind.slot));
          to.add(SlotKeys.bytes(kind.topic));
          to.add(kind.isGrouped ? ONE : ZERO);
          to.add(LuaScript.number(items));
        }
        if (kind.letter == 'p') {
          to.add(kind.keepsTime ? ONE : ZERO);
          to.add(LuaScript.number(kind.capMillis));
        }
        to.addAll(words);
      }
    }
  }
}

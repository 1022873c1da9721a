package io.gameq.redis.script;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.Ack;
import io.gameq.message.MessageChange.Delete;
import io.gameq.message.MessageChange.Expect;
import io.gameq.message.MessageChange.Publish;
import io.gameq.message.MessageChange.Retime;
import io.gameq.redis.SlotKeys;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Changes of one kind to messages of one topic in one slot, as {@code batches.lua} reads them. Not
 * thread-safe.
 */
final class MessageBatch {
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
  record Kind(
      char letter, int slot, String topic, boolean isGrouped, boolean keepsTime, long capMillis) {
    static Kind of(MessageChange change, int slot) {
      boolean isGrouped = change.id().id().indexOf(':') >= 0;
      String topic = change.id().topic();
      if (change instanceof Publish of) {
        return new Kind('p', slot, topic, isGrouped, of.keepsTime(), of.capMillis());
      }
      return new Kind(letter(change), slot, topic, isGrouped, false, 0);
    }

    private static char letter(MessageChange change) {
      return change instanceof Ack
          ? 'a'
          : change instanceof Retime ? 'r' : change instanceof Delete ? 'd' : 'e';
    }
  }

  private final Kind kind;
  private final List<byte[]> words = new ArrayList<>();
  private final List<Integer> commits = new ArrayList<>();

  /** Of published messages, where each stands. */
  private final Map<String, Integer> places = new HashMap<>();

  private int items;

  MessageBatch(Kind kind) {
    this.kind = kind;
  }

  boolean isFull() {
    return items == MOST;
  }

  /**
   * Whether it takes several changes of one lane: of publishes of a message the later one stays.
   */
  boolean takesLaneAgain() {
    return kind.letter == 'p';
  }

  /** The commits of an item; of all when it is -1, and of publishes, which are refused together. */
  List<Integer> commits(int item) {
    return item < 0 ? commits : commits.subList(item, item + 1);
  }

  void add(MessageChange change, MessageCommit of, int commit) {
    commits.add(commit);
    if (change instanceof Publish publish) {
      publish(publish);
      return;
    }
    items++;
    if (change instanceof Expect expect) {
      words.add(expect.idBytes());
      words.add(version(expect.version()));
      return;
    }
    words.add(number(of.sequence()));
    words.add(change.idBytes());
    if (change instanceof Ack ack) {
      words.add(ack.token().getBytes(US_ASCII));
      words.add(
          ack.nextDueMillis() == 0 && ack.occurrenceMillis() == 0
              ? ZERO
              : SlotKeys.bytes(ack.nextDueMillis() + " " + ack.occurrenceMillis()));
      words.add(version(ack.handledVersion()));
    } else if (change instanceof Retime retime) {
      words.add(number(retime.dueMillis()));
      words.add(version(of.version()));
    } else {
      words.add(version(of.version()));
    }
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
      words.add(number(due));
      words.add(of.value());
      return;
    }
    int at = 3 * place;
    if (of.keepsTime()) {
      due = Math.min(due, Long.parseLong(new String(words.get(at + 1), US_ASCII)));
    }
    words.set(at + 1, number(due));
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
    to.add(number(kind.slot));
    to.add(SlotKeys.bytes(kind.topic));
    to.add(kind.isGrouped ? ONE : ZERO);
    to.add(number(items));
    if (kind.letter == 'p') {
      to.add(kind.keepsTime ? ONE : ZERO);
      to.add(number(kind.capMillis));
    }
    to.addAll(words);
  }

  static byte[] number(long value) {
    return SlotKeys.bytes(Long.toString(value));
  }

  private static byte[] version(long version) {
    return SlotKeys.bytes(HexFormat.of().toHexDigits(version));
  }
}

package io.gameq.wal;

import io.gameq.WalException;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.rows.EncodedRow;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.zip.CRC32C;

/** Records, to and from bytes (see the package comment). Stateless. */
final class WalCodec {
  static final int FORMAT = 4;

  /** Of the files that Chronicle Queue maps into memory. */
  static final int BLOCK_BYTES = 64 << 20;

  /** A quarter of the block is what Chronicle Queue takes. */
  static final int MOST_RECORD_BYTES = BLOCK_BYTES / 4 - 1024;

  private static final int HEADER = 0;
  private static final int COMMIT = 1;
  private static final int FAILED = 2;
  private static final int ADOPTED = 3;
  private static final int LAYOUT = 4;
  private static final int CARRIED = 5;
  private static final int COMMIT_WITH_MESSAGES = 6;

  private static final int PUBLISH = 1;
  private static final int RETIME = 2;
  private static final int DELETE = 3;
  private static final int ACK = 4;
  private static final int ACK_OF_OCCURRENCE = 5;

  private WalCodec() {}

  /**
   * What stands before each body, so that a record can be found and believed wherever it lies.
   * Stateless.
   *
   * <p>The tag is this WAL's own: a blob in a row that looks like a record is not taken for one,
   * even when the record around it is damaged.
   */
  static final class Envelope {
    static final int BYTES = 24;
    static final int MAGIC = 0x47515731; // "GQW1"
    static final byte FIRST = 'G';

    private static final int CRC = 4;
    private static final int LENGTH = 8;
    private static final int TAG = 12;
    private static final int SEQUENCE = 16;

    private Envelope() {}

    /** The tag of a WAL: the process at the end of its id, where it ends with 8 hex digits. */
    static int tag(String walId) {
      String process = walId.substring(walId.lastIndexOf('-') + 1);
      try {
        if (process.length() == 8) {
          return Integer.parseUnsignedInt(process, 16);
        }
      } catch (NumberFormatException e) {
        // of no process: any number that is the same for the same id
      }
      byte[] bytes = walId.getBytes(StandardCharsets.UTF_8);
      return checksum(bytes, 0, bytes.length);
    }

    static boolean beginsAt(byte[] bytes, int at) {
      return ByteBuffer.wrap(bytes).getInt(at) == MAGIC;
    }

    /** Bytes of the whole record, by its envelope; may be anything when that is damaged. */
    static long length(byte[] bytes, int at) {
      return BYTES + (ByteBuffer.wrap(bytes).getInt(at + LENGTH) & 0xFFFFFFFFL);
    }

    static int tag(byte[] bytes, int at) {
      return ByteBuffer.wrap(bytes).getInt(at + TAG);
    }

    static long sequence(byte[] bytes, int at) {
      return ByteBuffer.wrap(bytes).getLong(at + SEQUENCE);
    }

    /** Whether the {@code length} bytes of a record are those that were written. */
    static boolean isIntact(byte[] bytes, int at, int length) {
      return ByteBuffer.wrap(bytes).getInt(at + CRC)
          == checksum(bytes, at + LENGTH, length - LENGTH);
    }

    private static int checksum(byte[] bytes, int at, int length) {
      CRC32C crc = new CRC32C();
      crc.update(bytes, at, length);
      return (int) crc.getValue();
    }
  }

  /** The bytes of one record; reused for the next one. Not thread-safe. */
  static final class Encoder {
    private static final int KEPT_BYTES = 1 << 20;

    private byte[] bytes = new byte[4096];
    private int length;

    /** The record, whose first {@link #length()} bytes count; valid until the next one begins. */
    byte[] bytes() {
      return bytes;
    }

    int length() {
      return length;
    }

    /** Fills in the envelope; the record is then complete. */
    void seal(int tag, long sequence) {
      ByteBuffer envelope = ByteBuffer.wrap(bytes);
      envelope.putInt(Envelope.MAGIC).position(Envelope.LENGTH);
      envelope.putInt(length - Envelope.BYTES).putInt(tag).putLong(sequence);
      int checksum = Envelope.checksum(bytes, Envelope.LENGTH, length - Envelope.LENGTH);
      envelope.putInt(Envelope.CRC, checksum);
    }

    void header(WalRecord.Header header) {
      begin(HEADER);
      number(header.format());
      text(header.walId());
      text(header.namespace());
      number(header.slots());
      text(header.node());
      number(header.startMillis());
      text(header.database());
    }

    void commit(Commit commit) {
      boolean hasMessages = !commit.messages().isEmpty();
      begin(hasMessages ? COMMIT_WITH_MESSAGES : COMMIT);
      if (hasMessages) {
        number(commit.version());
      }
      number(commit.parts().size());
      commit.parts().forEach(this::part);
      if (hasMessages) {
        messages(commit.messages());
      }
    }

    void failed(long sequence) {
      begin(FAILED);
      number(sequence);
    }

    void adopted(CommitPart part) {
      begin(ADOPTED);
      part(part);
    }

    void layout(WalRecord.Layout layout) {
      begin(LAYOUT);
      text(layout.table());
      number(layout.fingerprint());
      text(layout.columns());
    }

    /** A record again: {@code body} is what it held the first time. */
    void carried(long sequence, byte[] body) {
      begin(CARRIED);
      number(sequence);
      raw(body);
    }

    private void begin(int kind) {
      if (bytes.length > KEPT_BYTES) {
        bytes = new byte[4096];
      }
      length = Envelope.BYTES;
      number(kind);
    }

    private void part(CommitPart part) {
      text(part.session().owner().encoded());
      text(part.session().text());
      number(part.rows().size());
      for (ChangedRow row : part.rows()) {
        block(row.keyBytes());
        block(row.image());
      }
    }

    /** By slots; what a commit expects is for the living commit alone. */
    private void messages(List<MessageChange> messages) {
      Map<Integer, List<MessageChange>> slots = new LinkedHashMap<>();
      for (MessageChange change : messages) {
        if (!(change instanceof MessageChange.Expect)) {
          slots.computeIfAbsent(change.slot(), slot -> new ArrayList<>()).add(change);
        }
      }
      number(slots.size());
      slots.forEach(
          (slot, changes) -> {
            number(slot);
            number(changes.size());
            changes.forEach(this::change);
          });
    }

    private void change(MessageChange change) {
      if (change instanceof MessageChange.Publish publish) {
        change(PUBLISH, change.id(), publish.dueMillis());
        number(publish.keepsTime() ? 1 : 0);
        number(publish.capMillis());
        block(publish.value());
      } else if (change instanceof MessageChange.Retime retime) {
        change(RETIME, change.id(), retime.dueMillis());
      } else if (change instanceof MessageChange.Delete) {
        change(DELETE, change.id());
      } else if (change instanceof MessageChange.Ack ack) {
        boolean recurs = ack.occurrenceMillis() != 0;
        change(recurs ? ACK_OF_OCCURRENCE : ACK, change.id(), ack.handledVersion());
        text(ack.token());
        number(ack.nextDueMillis());
        if (recurs) {
          number(ack.occurrenceMillis());
        }
      }
    }

    private void change(int kind, MessageId id, long... numbers) {
      number(kind);
      text(id.topic());
      text(id.id());
      for (long number : numbers) {
        number(number);
      }
    }

    /** A number, in 7 bits a byte, the lowest first; small ones take a byte. */
    private void number(long value) {
      room(10);
      long rest = value;
      while ((rest & ~0x7FL) != 0) {
        bytes[length++] = (byte) (rest | 0x80);
        rest >>>= 7;
      }
      bytes[length++] = (byte) rest;
    }

    /** ASCII, which most texts are, is copied without an array between. */
    private void text(String text) {
      int chars = text.length();
      int start = length;
      number(chars);
      room(chars);
      for (int i = 0; i < chars; i++) {
        char c = text.charAt(i);
        if (c >= 0x80) {
          length = start;
          block(text.getBytes(StandardCharsets.UTF_8));
          return;
        }
        bytes[length++] = (byte) c;
      }
    }

    private void block(byte[] block) {
      number(block.length);
      raw(block);
    }

    private void raw(byte[] block) {
      room(block.length);
      System.arraycopy(block, 0, bytes, length, block.length);
      length += block.length;
    }

    private void room(int more) {
      if (bytes.length - length < more) {
        bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
      }
    }
  }

  /**
   * Reads the body of a record whose checksum is right.
   *
   * @param place its sequence
   * @throws WalException when it is of a kind or form that this version does not know
   */
  static WalRecord.Entry decode(byte[] bytes, int from, int end, long place) {
    try {
      Decoder body = new Decoder(bytes, from, end);
      long sequence = body.skipCarried(place);
      return new WalRecord.Entry(sequence, place, body.record());
    } catch (IndexOutOfBoundsException e) {
      throw new WalException("a record cannot be decoded: " + e.getMessage(), e);
    }
  }

  /**
   * Reads what {@link Encoder} wrote. Reading beyond the end throws {@link
   * IndexOutOfBoundsException}. Not thread-safe.
   */
  static final class Decoder {
    private final byte[] bytes;
    private final int end;
    private int at;

    Decoder(byte[] bytes, int from, int end) {
      this.bytes = bytes;
      this.at = from;
      this.end = end;
    }

    /** Goes on to the body that a record carries; returns the sequence that names the record. */
    long skipCarried(long place) {
      int from = at;
      if (number() == CARRIED) {
        return number();
      }
      at = from;
      return place;
    }

    /** All that was not read yet. */
    byte[] rest() {
      return Arrays.copyOfRange(bytes, at, end);
    }

    private WalRecord record() {
      int kind = (int) number();
      return switch (kind) {
        case HEADER ->
            new WalRecord.Header(
                (int) number(),
                text(),
                text(),
                (int) number(),
                text(),
                number(),
                at == end ? "" : text());
        case COMMIT -> new WalRecord.Committed(list(this::part));
        case COMMIT_WITH_MESSAGES -> {
          long version = number();
          List<WalRecord.Part> parts = list(this::part);
          List<MessageChange> messages =
              list(this::messagesOfSlot).stream().flatMap(List::stream).toList();
          yield new WalRecord.Committed(parts, version, messages);
        }
        case FAILED -> new WalRecord.Failed(number());
        case ADOPTED -> new WalRecord.Adopted(part());
        case LAYOUT -> new WalRecord.Layout(text(), number(), text());
        default -> throw new WalException("a record of an unknown kind, " + kind);
      };
    }

    private <T> List<T> list(Supplier<T> element) {
      int count = count();
      List<T> list = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        list.add(element.get());
      }
      return list;
    }

    private WalRecord.Part part() {
      return new WalRecord.Part(text(), text(), list(() -> new EncodedRow(text(), block())));
    }

    private List<MessageChange> messagesOfSlot() {
      int slot = (int) number();
      return list(() -> change(slot));
    }

    private MessageChange change(int slot) {
      int kind = (int) number();
      MessageId id = new MessageId(text(), text());
      return switch (kind) {
        case PUBLISH ->
            new MessageChange.Publish(id, slot, number(), number() == 1, number(), block());
        case RETIME -> new MessageChange.Retime(id, slot, number());
        case DELETE -> new MessageChange.Delete(id, slot);
        case ACK -> new MessageChange.Ack(id, slot, number(), text(), number());
        case ACK_OF_OCCURRENCE ->
            new MessageChange.Ack(id, slot, number(), text(), number(), number(), null);
        default -> throw new WalException("a change of a message of an unknown kind, " + kind);
      };
    }

    private long number() {
      long value = 0;
      for (int shift = 0; shift < 70; shift += 7) {
        byte next = bytes[skip(1)];
        value |= (next & 0x7FL) << shift;
        if (next >= 0) {
          return value;
        }
      }
      throw new IndexOutOfBoundsException("a number of more than 10 bytes");
    }

    /** A number of things that take at least a byte each. */
    private int count() {
      long count = number();
      if (count < 0 || count > end - at) {
        throw new IndexOutOfBoundsException(count + " things in " + (end - at) + " bytes");
      }
      return (int) count;
    }

    private String text() {
      int length = count();
      return new String(bytes, skip(length), length, StandardCharsets.UTF_8);
    }

    private byte[] block() {
      int length = count();
      int from = skip(length);
      return Arrays.copyOfRange(bytes, from, from + length);
    }

    private int skip(int length) {
      if (length > end - at) {
        throw new IndexOutOfBoundsException("the record ends early");
      }
      int from = at;
      at += length;
      return from;
    }
  }
}

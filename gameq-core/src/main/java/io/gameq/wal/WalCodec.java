package io.gameq.wal;

import io.gameq.WalException;
import io.gameq.change.ChangedRow;
import io.gameq.change.Commit;
import io.gameq.change.Commit.CommitPart;
import io.gameq.change.Commit.SlotMessages;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageChange.MessageId;
import io.gameq.rows.HandledRow.EncodedRow;
import io.gameq.wal.FileScan.Envelope;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Bodies of records, to and from bytes (see the package comment). Stateless. */
final class WalCodec {
  static final int FORMAT = 4;

  private static final int HEADER = 0;
  private static final int COMMIT = 1;
  private static final int FAILED = 2;
  private static final int ADOPTED = 3;
  private static final int LAYOUT = 4;
  private static final int CARRIED = 5;
  private static final int COMMIT_WITH_MESSAGES = 6;

  private WalCodec() {}

  /** Writes the body of one record. */
  interface Body {
    void write(BodyWriter to);
  }

  static Body header(WalRecord.Header header) {
    return to -> {
      to.begin(HEADER);
      to.number(header.format());
      to.text(header.walId());
      to.text(header.namespace());
      to.number(header.slots());
      to.text(header.node());
      to.number(header.startMillis());
      to.text(header.database());
    };
  }

  static Body commit(Commit commit) {
    boolean hasMessages = !commit.messages().isEmpty();
    return to -> {
      to.begin(hasMessages ? COMMIT_WITH_MESSAGES : COMMIT);
      if (hasMessages) {
        to.number(commit.version());
      }
      to.number(commit.parts().size());
      for (CommitPart part : commit.parts()) {
        writePart(to, part);
      }
      if (hasMessages) {
        MessageCodec.write(to, commit.messages());
      }
    };
  }

  static Body failed(long sequence) {
    return to -> {
      to.begin(FAILED);
      to.number(sequence);
    };
  }

  static Body adopted(CommitPart part) {
    return to -> {
      to.begin(ADOPTED);
      writePart(to, part);
    };
  }

  static Body layout(WalRecord.Layout layout) {
    return to -> {
      to.begin(LAYOUT);
      to.text(layout.table());
      to.number(layout.fingerprint());
      to.text(layout.columns());
    };
  }

  /** A record again: {@code body} is what it held the first time. */
  static Body carried(long sequence, byte[] body) {
    return to -> {
      to.begin(CARRIED);
      to.number(sequence);
      to.raw(body);
    };
  }

  /** What a record is the first of, or carries. */
  record First(long sequence, int bodyFrom) {}

  /** Which record this is, at which {@code place}, or which one it carries. */
  static First first(byte[] bytes, int from, int end, long place) {
    BodyReader body = new BodyReader(bytes, from, end);
    return body.number() == CARRIED ? new First(body.number(), body.at()) : new First(place, from);
  }

  private static void writePart(BodyWriter to, CommitPart part) {
    to.text(part.session().owner().encoded());
    to.text(part.session().text());
    to.number(part.rows().size());
    for (ChangedRow row : part.rows()) {
      to.block(row.keyBytes());
      to.block(row.image());
    }
  }

  /**
   * Reads the body of a record whose checksum is right.
   *
   * @param place its sequence
   * @throws WalException when it is of a kind or form that this version does not know
   */
  static WalReader.Entry decode(byte[] bytes, int from, int end, long place) {
    try {
      First first = first(bytes, from, end, place);
      return new WalReader.Entry(
          first.sequence(), place, read(new BodyReader(bytes, first.bodyFrom(), end)));
    } catch (IndexOutOfBoundsException e) {
      throw new WalException("a record cannot be decoded: " + e.getMessage(), e);
    }
  }

  private static WalRecord read(BodyReader body) {
    int kind = (int) body.number();
    return switch (kind) {
      case HEADER ->
          new WalRecord.Header(
              (int) body.number(),
              body.text(),
              body.text(),
              (int) body.number(),
              body.text(),
              body.number(),
              body.isAtEnd() ? "" : body.text());
      case COMMIT -> new WalRecord.Committed(parts(body));
      case COMMIT_WITH_MESSAGES -> {
        long version = body.number();
        yield new WalRecord.Committed(parts(body), version, MessageCodec.read(body));
      }
      case FAILED -> new WalRecord.Failed(body.number());
      case ADOPTED -> new WalRecord.Adopted(part(body));
      case LAYOUT -> new WalRecord.Layout(body.text(), body.number(), body.text());
      default -> throw new WalException("a record of an unknown kind, " + kind);
    };
  }

  private static List<WalRecord.Part> parts(BodyReader body) {
    int count = body.count();
    List<WalRecord.Part> parts = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      parts.add(part(body));
    }
    return parts;
  }

  private static WalRecord.Part part(BodyReader body) {
    String owner = body.text();
    String session = body.text();
    int count = body.count();
    List<EncodedRow> rows = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      rows.add(new EncodedRow(body.text(), body.block()));
    }
    return new WalRecord.Part(owner, session, rows);
  }

  /**
   * Reads what {@link BodyWriter} wrote. Reading beyond the end throws {@link
   * IndexOutOfBoundsException}. Not thread-safe.
   */
  static final class BodyReader {
    private final byte[] bytes;
    private final int end;
    private int at;

    BodyReader(byte[] bytes, int from, int end) {
      this.bytes = bytes;
      this.at = from;
      this.end = end;
    }

    long number() {
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
    int count() {
      long count = number();
      if (count < 0 || count > end - at) {
        throw new IndexOutOfBoundsException(count + " things in " + (end - at) + " bytes");
      }
      return (int) count;
    }

    String text() {
      int length = count();
      return new String(bytes, skip(length), length, StandardCharsets.UTF_8);
    }

    byte[] block() {
      int length = count();
      int from = skip(length);
      return Arrays.copyOfRange(bytes, from, from + length);
    }

    boolean isAtEnd() {
      return at == end;
    }

    /** Where it reads next. */
    int at() {
      return at;
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

  /** The messages of a commit, to and from bytes (see the package comment). Stateless. */
  static final class MessageCodec {
    private static final int PUBLISH = 1;
    private static final int RETIME = 2;
    private static final int DELETE = 3;
    private static final int ACK = 4;
    private static final int ACK_OF_OCCURRENCE = 5;

    private MessageCodec() {}

    static void write(BodyWriter to, List<SlotMessages> messages) {
      to.number(messages.size());
      for (SlotMessages of : messages) {
        to.number(of.slot());
        int changes = 0;
        for (MessageChange change : of.changes()) {
          changes += isKept(change) ? 1 : 0;
        }
        to.number(changes);
        for (MessageChange change : of.changes()) {
          if (isKept(change)) {
            write(to, change);
          }
        }
      }
    }

    /** What a commit expects is for the living commit alone. */
    private static boolean isKept(MessageChange change) {
      return !(change instanceof MessageChange.Expect);
    }

    private static void write(BodyWriter to, MessageChange change) {
      if (change instanceof MessageChange.Publish publish) {
        begin(to, PUBLISH, change);
        to.number(publish.dueMillis());
        to.number(publish.keepsTime() ? 1 : 0);
        to.number(publish.capMillis());
        to.block(publish.value());
      } else if (change instanceof MessageChange.Retime retime) {
        begin(to, RETIME, change);
        to.number(retime.dueMillis());
      } else if (change instanceof MessageChange.Delete) {
        begin(to, DELETE, change);
      } else if (change instanceof MessageChange.Ack ack) {
        boolean recurs = ack.occurrenceMillis() != 0;
        begin(to, recurs ? ACK_OF_OCCURRENCE : ACK, change);
        to.number(ack.handledVersion());
        to.text(ack.token());
        to.number(ack.nextDueMillis());
        if (recurs) {
          to.number(ack.occurrenceMillis());
        }
      }
    }

    private static void begin(BodyWriter to, int kind, MessageChange change) {
      to.number(kind);
      to.text(change.id().topic());
      to.text(change.id().id());
    }

    static List<SlotMessages> read(BodyReader body) {
      int slots = body.count();
      List<SlotMessages> messages = new ArrayList<>(slots);
      for (int i = 0; i < slots; i++) {
        int slot = (int) body.number();
        int count = body.count();
        List<MessageChange> changes = new ArrayList<>(count);
        for (int change = 0; change < count; change++) {
          changes.add(change(body, slot));
        }
        messages.add(new SlotMessages(slot, changes));
      }
      return messages;
    }

    private static MessageChange change(BodyReader body, int slot) {
      int kind = (int) body.number();
      MessageId id = new MessageId(body.text(), body.text());
      return switch (kind) {
        case PUBLISH ->
            new MessageChange.Publish(
                id, slot, body.number(), body.number() == 1, body.number(), body.block());
        case RETIME -> new MessageChange.Retime(id, slot, body.number());
        case DELETE -> new MessageChange.Delete(id, slot);
        case ACK -> new MessageChange.Ack(id, slot, body.number(), body.text(), body.number());
        case ACK_OF_OCCURRENCE ->
            new MessageChange.Ack(
                id, slot, body.number(), body.text(), body.number(), body.number(), null);
        default -> throw new WalException("a change of a message of an unknown kind, " + kind);
      };
    }
  }

  /**
   * Collects the bytes of one record, behind room for its envelope; reused for the next one. Not
   * thread-safe.
   */
  static final class BodyWriter {
    private static final int KEPT_BYTES = 1 << 20;

    private byte[] bytes = new byte[4096];
    private int length;

    void begin(int kind) {
      if (bytes.length > KEPT_BYTES) {
        bytes = new byte[4096];
      }
      length = Envelope.BYTES;
      number(kind);
    }

    /** A number, in 7 bits a byte, the lowest first; small ones take a byte. */
    void number(long value) {
      room(10);
      long rest = value;
      while ((rest & ~0x7FL) != 0) {
        bytes[length++] = (byte) (rest | 0x80);
        rest >>>= 7;
      }
      bytes[length++] = (byte) rest;
    }

    void text(String text) {
      int chars = text.length();
      number(chars);
      room(chars);
      for (int i = 0; i < chars; i++) {
        char c = text.charAt(i);
        if (c >= 0x80) {
          length -= i + numberBytes(chars);
          block(text.getBytes(StandardCharsets.UTF_8));
          return;
        }
        bytes[length++] = (byte) c;
      }
    }

    private static int numberBytes(int value) {
      return 1 + (31 - Integer.numberOfLeadingZeros(value | 1)) / 7;
    }

    void block(byte[] block) {
      number(block.length);
      raw(block);
    }

    /** Bytes without their length: the rest of the body. */
    void raw(byte[] block) {
      room(block.length);
      System.arraycopy(block, 0, bytes, length, block.length);
      length += block.length;
    }

    private void room(int more) {
      if (bytes.length - length < more) {
        bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
      }
    }

    /**
     * The record, whose first {@link #length()} bytes count; valid until the next {@link #begin}.
     */
    byte[] bytes() {
      return bytes;
    }

    int length() {
      return length;
    }
  }
}

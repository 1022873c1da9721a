package io.gameq.rows;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What stands before the values of an encoded row, read and written without decoding them: its
 * version, its op, its handovers, and whether it is made anew. Stateless.
 *
 * <p>The format is drawn in the package description.
 */
public final class RowHeader {
  static final int VERSION_DIGITS = 16;
  private static final int BYTES = VERSION_DIGITS + 1;
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final Map<RowOp, byte[]> HEADERS = new EnumMap<>(RowOp.class);

  static {
    for (RowOp op : RowOp.values()) {
      byte[] header =
          "0".repeat(BYTES).getBytes(StandardCharsets.US_ASCII); // version zero, and the op
      header[VERSION_DIGITS] = op.code(false);
      HEADERS.put(op, header);
    }
  }

  private RowHeader() {}

  /** The header of a row without handovers, of version zero; not to be changed. */
  static byte[] of(RowOp op) {
    return Objects.requireNonNull(HEADERS.get(op));
  }

  /** Writes the version into an encoded row, in place. */
  public static void setVersion(byte[] encoded, long version) {
    setVersion(encoded, 0, version);
  }

  static void setVersion(byte[] to, int at, long version) {
    for (int i = 0; i < VERSION_DIGITS; i++) {
      to[at + i] = HEX[(int) (version >>> (4 * (VERSION_DIGITS - 1 - i))) & 15];
    }
  }

  /**
   * The same row, with this op and telling of these handovers instead of its own; see {@link
   * Handover#MOST}. Of a put and a move the columns are the same.
   */
  public static byte[] withHandovers(byte[] encoded, RowOp op, List<Handover> handovers) {
    int from = columnsAt(encoded);
    byte[] notes = handovers.isEmpty() ? new byte[0] : HandoverCodec.encode(handovers);
    byte[] row = new byte[BYTES + notes.length + encoded.length - from];
    System.arraycopy(encoded, 0, row, 0, VERSION_DIGITS);
    row[VERSION_DIGITS] = op.code(!handovers.isEmpty());
    System.arraycopy(notes, 0, row, BYTES, notes.length);
    System.arraycopy(encoded, from, row, BYTES + notes.length, encoded.length - from);
    return row;
  }

  /** Those of an encoded row, oldest first. */
  public static List<Handover> handovers(byte[] encoded) {
    check(encoded);
    return RowOp.tellsOfHandovers(encoded[VERSION_DIGITS])
        ? HandoverCodec.decode(encoded, BYTES)
        : List.of();
  }

  /** Writes the version of a handover, by its index, into an encoded row, in place. */
  public static void setHandoverVersion(byte[] encoded, int index, long version) {
    HandoverCodec.setVersion(encoded, BYTES, index, version);
  }

  /** The index of the MessagePack array, behind handovers. */
  static int columnsAt(byte[] encoded) {
    check(encoded);
    return RowOp.tellsOfHandovers(encoded[VERSION_DIGITS])
        ? Math.min(encoded.length, HandoverCodec.end(encoded, BYTES))
        : BYTES;
  }

  /** The version of an encoded row, unsigned. */
  public static long version(byte[] encoded) {
    check(encoded);
    return version(encoded, 0);
  }

  static long version(byte[] encoded, int at) {
    long version = 0;
    for (int i = 0; i < VERSION_DIGITS; i++) {
      int digit = Character.digit(encoded[at + i], 16);
      if (digit < 0) {
        throw new GameQueueException("encoded row without a version");
      }
      version = version << 4 | digit;
    }
    return version;
  }

  /** What is done to the row. */
  public static RowOp op(byte[] encoded) {
    check(encoded);
    return RowOp.ofCode(encoded[VERSION_DIGITS]);
  }

  /** Whether a put says that it makes a row anew, after a delete; see {@link RowImage#isAnew}. */
  public static boolean isAnew(byte[] encoded) {
    check(encoded);
    int at = BYTES; // a MessagePack array of up to 15, or with a length of 2 or 4 bytes
    if (at < encoded.length) {
      at += encoded[at] == (byte) 0xdc ? 3 : encoded[at] == (byte) 0xdd ? 5 : 1;
    }
    int format = at < encoded.length ? encoded[at] & 0xff : 0;
    return format >= 0xe0 || (format >= 0xd0 && format <= 0xd3); // a negative number
  }

  private static void check(byte[] encoded) {
    if (encoded.length < BYTES) {
      throw new GameQueueException("encoded row of only " + encoded.length + " bytes");
    }
  }

  /** What an encoded row says of its row. */
  public enum RowOp {
    /** This is the row now. */
    PUT('p'),
    /** The row is gone. */
    DELETE('d'),
    /** The row belongs to another owner now: it hides the row from the old one. */
    MOVED('m');

    private final byte code;

    RowOp(char code) {
      this.code = (byte) code;
    }

    /** A capital letter says that the row tells of handovers. */
    byte code(boolean tellsOfHandovers) {
      return tellsOfHandovers ? (byte) Character.toUpperCase(code) : code;
    }

    static boolean tellsOfHandovers(byte code) {
      return code >= 'A' && code <= 'Z';
    }

    static RowOp ofCode(byte code) {
      return switch (Character.toLowerCase(code)) {
        case 'p' -> PUT;
        case 'd' -> DELETE;
        case 'm' -> MOVED;
        default -> throw new GameQueueException("encoded row with the unknown op " + code);
      };
    }
  }

  /**
   * The part of an encoded row that tells of its {@linkplain Handover handovers}: it follows the
   * op, which is a capital letter then. Stateless.
   *
   * <pre>
   * number of handovers, one byte; for each: 'r' received or 'g' given; version, 16 hex digits;
   * length of the owner, one byte; owner, encoded; session, 33 characters
   * </pre>
   */
  static final class HandoverCodec {
    private static final byte RECEIVED = 'r';
    private static final byte GIVEN = 'g';
    private static final int SESSION_CHARS = 33;

    /** Before the owner: direction, version, length. */
    private static final int FIXED_BYTES = 1 + RowHeader.VERSION_DIGITS + 1;

    private HandoverCodec() {}

    static byte[] encode(List<Handover> handovers) {
      List<Handover> kept =
          handovers.subList(Math.max(0, handovers.size() - Handover.MOST), handovers.size());
      int bytes = 1;
      for (Handover one : kept) {
        bytes += FIXED_BYTES + one.other().encoded().length() + SESSION_CHARS;
      }
      byte[] out = new byte[bytes];
      out[0] = (byte) kept.size();
      int at = 1;
      for (Handover one : kept) {
        byte[] owner = one.other().encoded().getBytes(US_ASCII);
        out[at] = one.received() ? RECEIVED : GIVEN;
        RowHeader.setVersion(out, at + 1, one.version());
        out[at + 1 + RowHeader.VERSION_DIGITS] = (byte) owner.length;
        System.arraycopy(owner, 0, out, at + FIXED_BYTES, owner.length);
        at += FIXED_BYTES + owner.length;
        System.arraycopy(one.session().text().getBytes(US_ASCII), 0, out, at, SESSION_CHARS);
        at += SESSION_CHARS;
      }
      return out;
    }

    /** Those that begin at an index, as they were encoded. */
    static List<Handover> decode(byte[] row, int from) {
      try {
        List<Handover> handovers = new ArrayList<>(row[from]);
        int at = from + 1;
        for (int i = 0; i < row[from]; i++) {
          int ownerAt = at + FIXED_BYTES;
          int sessionAt = ownerAt + ownerLength(row, at);
          handovers.add(
              new Handover(
                  row[at] == RECEIVED,
                  OwnerId.ofEncoded(text(row, ownerAt, sessionAt)),
                  SessionId.parse(text(row, sessionAt, sessionAt + SESSION_CHARS)),
                  RowHeader.version(row, at + 1)));
          at = sessionAt + SESSION_CHARS;
        }
        return List.copyOf(handovers);
      } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
        throw new GameQueueException("encoded row with damaged handovers", e);
      }
    }

    private static String text(byte[] row, int from, int to) {
      if (to > row.length) {
        throw new IllegalArgumentException("ends at " + to + " of " + row.length);
      }
      return new String(Arrays.copyOfRange(row, from, to), US_ASCII);
    }

    private static int ownerLength(byte[] row, int at) {
      return row[at + 1 + RowHeader.VERSION_DIGITS] & 0xFF;
    }

    /** The index behind those that begin at an index. */
    static int end(byte[] row, int from) {
      try {
        int at = from + 1;
        for (int i = 0; i < row[from]; i++) {
          at += FIXED_BYTES + ownerLength(row, at) + SESSION_CHARS;
        }
        return at;
      } catch (IndexOutOfBoundsException e) {
        throw new GameQueueException("encoded row with damaged handovers", e);
      }
    }

    /** Writes the version of one of them, in place. */
    static void setVersion(byte[] row, int from, int index, long version) {
      int at = from + 1;
      for (int i = 0; i < index; i++) {
        at += FIXED_BYTES + ownerLength(row, at) + SESSION_CHARS;
      }
      RowHeader.setVersion(row, at + 1, version);
    }
  }

  /**
   * A move of a row between two owners, as one of them tells of it; immutable.
   *
   * @param received whether this owner got the row; else it gave the row away
   * @param other the other owner
   * @param session the other owner's session that took part in the commit
   * @param version of the row on both sides, unsigned; 0 for a commit that Redis refused, which
   *     says nothing
   */
  public record Handover(boolean received, OwnerId other, SessionId session, long version) {
    /** What a row goes through between two flushes; of more, an image tells of the newest. */
    public static final int MOST = 16;

    /** Whether this is the same move, as the other owner tells of it. */
    public boolean isOtherSideOf(Handover its, OwnerId owner) {
      return received != its.received && version == its.version && other.equals(owner);
    }

    @Override
    public String toString() {
      return (received ? "received from " : "given to ") + other + " " + session;
    }
  }
}

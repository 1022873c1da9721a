package io.gameq.rows;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * What stands before the values of an encoded row, read and written without decoding them: its
 * version, its op, its handovers, and whether it is made anew. Stateless.
 *
 * <p>The format is drawn in the package description.
 */
public final class RowHeader {
  private static final int VERSION_DIGITS = 16;
  private static final int BYTES = VERSION_DIGITS + 1;
  private static final byte[] HEX = "0123456789abcdef".getBytes(ISO_8859_1);

  private RowHeader() {}

  /** Writes the version into an encoded row, in place. */
  public static void setVersion(byte[] encoded, long version) {
    setVersion(encoded, 0, version);
  }

  private static void setVersion(byte[] to, int at, long version) {
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
    setVersion(encoded, HandoverCodec.at(encoded, BYTES, index) + 1, version);
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

  private static long version(byte[] encoded, int at) {
    long version = 0;
    for (int i = 0; i < VERSION_DIGITS; i++) {
      int digit = Character.digit(encoded[at + i], 16);
      if (digit < 0) {
        throw new GameQueueException("an encoded row or message without a version");
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
      throw new GameQueueException(
          "an encoded row or message of only " + encoded.length + " bytes");
    }
  }

  /** What an encoded row says of its row. */
  @SuppressWarnings("ImmutableEnumChecker")
  public enum RowOp {
    /** This is the row now. */
    PUT('p'),
    /** The row is gone. */
    DELETE('d'),
    /** The row belongs to another owner now: it hides the row from the old one. */
    MOVED('m');

    /** Of a row without handovers, of version zero; not to be changed. */
    final byte[] header;

    private final byte code;

    RowOp(char code) {
      this.code = (byte) code;
      this.header = ("0".repeat(VERSION_DIGITS) + code).getBytes(ISO_8859_1);
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
  private static final class HandoverCodec {
    private static final char RECEIVED = 'r';
    private static final char GIVEN = 'g';
    private static final int SESSION_CHARS = 33;

    /** Before the owner: direction, version, length. */
    private static final int FIXED_BYTES = 1 + VERSION_DIGITS + 1;

    private HandoverCodec() {}

    static byte[] encode(List<Handover> handovers) {
      int first = Math.max(0, handovers.size() - Handover.MOST);
      StringBuilder out = new StringBuilder().append((char) (handovers.size() - first));
      for (Handover one : handovers.subList(first, handovers.size())) {
        String owner = one.other().encoded();
        out.append(one.received() ? RECEIVED : GIVEN)
            .append(HexFormat.of().toHexDigits(one.version()))
            .append((char) owner.length())
            .append(owner)
            .append(one.session().text());
      }
      return out.toString().getBytes(ISO_8859_1);
    }

    /** Those that begin at an index, as they were encoded. */
    static List<Handover> decode(byte[] row, int from) {
      try {
        List<Handover> handovers = new ArrayList<>(row[from]);
        for (int i = 0; i < row[from]; i++) {
          int at = at(row, from, i);
          int ownerAt = at + FIXED_BYTES;
          int end = at(row, from, i + 1);
          int sessionAt = end - SESSION_CHARS;
          handovers.add(
              new Handover(
                  row[at] == RECEIVED,
                  OwnerId.ofEncoded(new String(row, ownerAt, sessionAt - ownerAt, ISO_8859_1)),
                  SessionId.parse(new String(row, sessionAt, SESSION_CHARS, ISO_8859_1)),
                  version(row, at + 1)));
        }
        return List.copyOf(handovers);
      } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
        throw new GameQueueException("encoded row with damaged handovers", e);
      }
    }

    /** Where the one of this index is, of those that begin at {@code from}; or where all end. */
    private static int at(byte[] row, int from, int index) {
      int at = from + 1;
      for (int i = 0; i < index; i++) {
        int ownerLength = row[at + FIXED_BYTES - 1] & 0xFF;
        at += FIXED_BYTES + ownerLength + SESSION_CHARS;
      }
      return at;
    }

    /** The index behind those that begin at an index. */
    static int end(byte[] row, int from) {
      try {
        return at(row, from, row[from]);
      } catch (IndexOutOfBoundsException e) {
        throw new GameQueueException("encoded row with damaged handovers", e);
      }
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

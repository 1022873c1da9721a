package io.gameq.rows;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.SessionId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The part of an encoded row that tells of its {@linkplain Handover handovers}: it follows the op,
 * which is a capital letter then. Stateless.
 *
 * <pre>
 * number of handovers, one byte; for each: 'r' received or 'g' given; version, 16 hex digits;
 * length of the owner, one byte; owner, encoded; session, 33 characters
 * </pre>
 */
final class HandoverCodec {
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

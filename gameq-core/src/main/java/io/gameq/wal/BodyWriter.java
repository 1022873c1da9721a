package io.gameq.wal;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Collects the bytes of one record, behind room for its envelope; reused for the next one. Not
 * thread-safe.
 */
final class BodyWriter {
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

  /** The record, whose first {@link #length()} bytes count; valid until the next {@link #begin}. */
  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }
}

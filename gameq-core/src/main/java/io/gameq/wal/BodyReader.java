package io.gameq.wal;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads what {@link BodyWriter} wrote. Reading beyond the end throws {@link
 * IndexOutOfBoundsException}. Not thread-safe.
 */
final class BodyReader {
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

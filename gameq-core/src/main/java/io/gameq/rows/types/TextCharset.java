package io.gameq.rows.types;

import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** The character sets of managed text columns: which code points they hold, in how many bytes. */
public enum TextCharset {
  UTF8MB4,
  UTF8MB3,
  ASCII,
  LATIN1;

  /**
   * MySQL's latin1 is windows-1252. The five bytes which that leaves open are control codes to the
   * server, but the driver does not read them back.
   */
  private static final BitSet LATIN1_CODE_POINTS = latin1();

  /** The character set of this MySQL name, or null when gameq cannot count its bytes. */
  public static @Nullable TextCharset ofName(String name) {
    return switch (name) {
      case "utf8mb4" -> UTF8MB4;
      case "utf8mb3", "utf8" -> UTF8MB3;
      case "ascii" -> ASCII;
      case "latin1" -> LATIN1;
      default -> null;
    };
  }

  /** How many bytes a code point takes, or 0 when this character set cannot hold it. */
  int bytes(int codePoint) {
    if (codePoint < 0x80) {
      return 1;
    }
    return switch (this) {
      case ASCII -> 0;
      case LATIN1 -> LATIN1_CODE_POINTS.get(codePoint) ? 1 : 0;
      case UTF8MB3 -> codePoint > 0xFFFF ? 0 : codePoint < 0x800 ? 2 : 3;
      case UTF8MB4 -> codePoint > 0xFFFF ? 4 : codePoint < 0x800 ? 2 : 3;
    };
  }

  /** The most bytes that the percent-encoding of one character takes. */
  int maxEncodedBytes() {
    return switch (this) {
      case ASCII -> 3;
      case LATIN1, UTF8MB3 -> 9;
      case UTF8MB4 -> 12;
    };
  }

  private static BitSet latin1() {
    BitSet codePoints = new BitSet();
    CharsetEncoder encoder = Charset.forName("windows-1252").newEncoder();
    for (char c = 0x80; c < 0xFFFF; c++) {
      if (encoder.canEncode(c)) {
        codePoints.set(c);
      }
    }
    return codePoints;
  }
}

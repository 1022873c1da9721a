package io.gameq.owner;

import io.gameq.GameQueueException;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Percent encoding of untrusted text into {@code [A-Za-z0-9._~%-]}: one form per text, so equal
 * means equal. Stateless.
 */
public final class PercentEncoding {
  private static final char[] HEX = "0123456789ABCDEF".toCharArray();

  private PercentEncoding() {}

  /**
   * The encoded form of a text.
   *
   * @throws GameQueueException when the text holds a lone surrogate, which UTF-8 cannot express
   */
  public static String percent(String text) {
    if (isPlain(text)) {
      return text;
    }
    byte[] utf8 = utf8(text);
    StringBuilder out = new StringBuilder(utf8.length + 8);
    for (byte signed : utf8) {
      int b = signed & 0xFF;
      if (isPlain((char) b)) {
        out.append((char) b);
      } else {
        out.append('%').append(HEX[b >> 4]).append(HEX[b & 15]);
      }
    }
    return out.toString();
  }

  private static byte[] utf8(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        i++;
      } else if (Character.isSurrogate(c)) {
        throw new GameQueueException(
            "text of %s characters holds a lone surrogate".formatted(text.length()));
      }
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * The text whose {@link #percent} form this is.
   *
   * @throws GameQueueException when it is not such a form
   */
  public static String unpercent(String encoded) {
    ByteArrayOutputStream utf8 = new ByteArrayOutputStream(encoded.length());
    for (int i = 0; i < encoded.length(); i++) {
      char c = encoded.charAt(i);
      if (c == '%') {
        int high = i + 2 < encoded.length() ? Character.digit(encoded.charAt(i + 1), 16) : -1;
        int low = high < 0 ? -1 : Character.digit(encoded.charAt(i + 2), 16);
        if (low < 0) {
          throw new GameQueueException("'%' without two hex digits at " + i + " in an encoded id");
        }
        utf8.write(high << 4 | low);
        i += 2;
      } else {
        utf8.write(c);
      }
    }
    return utf8.toString(StandardCharsets.UTF_8);
  }

  private static boolean isPlain(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (!isPlain(text.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isPlain(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '.'
        || c == '_'
        || c == '~'
        || c == '-';
  }
}

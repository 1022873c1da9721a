package io.gameq.owner;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId.PercentEncoding;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/**
 * The id of an owner, {@code kind:key}, for example {@code player:42}; immutable.
 *
 * <p>Ids are untrusted. Wherever one becomes part of a Redis key, a set member or a MySQL value it
 * is {@link #encoded}: UTF-8, every byte outside {@code [A-Za-z0-9._~-]} as {@code %XX}. So no ':'
 * '{' '}' or control character of an id can reach another key, and two ids never share an encoding.
 *
 * <p>An {@link #inbox} has the kind and the key of its owner, and an encoding of its own, with a
 * '!', which no encoded id has.
 */
public record OwnerId(String kind, String key, String encoded) {
  /** Longest encoded id, in bytes: what gameq_owner.owner holds. */
  public static final int MAX_ENCODED_BYTES = 255;

  private static final int MAX_KIND_CHARS = 32;

  private static final char OF_INBOX = '!';

  /**
   * Parses {@code kind:key}; the key may hold any character.
   *
   * @throws GameQueueException when the kind is missing or malformed, the key is empty, or the id
   *     is too long
   */
  public static OwnerId of(String id) {
    int colon = id.indexOf(':');
    if (colon < 0 || !isKind(id, colon) || colon == id.length() - 1) {
      throw new GameQueueException(
          ("owner id of %s characters is not 'kind:key', such as player:42 (kind: a"
                  + " lower-case letter, then up to 31 of a-z 0-9 _; key: not empty)")
              .formatted(id.length()));
    }
    String encoded = PercentEncoding.percent(id);
    if (encoded.length() > MAX_ENCODED_BYTES) {
      throw new GameQueueException(
          "owner id takes %s bytes encoded, the limit is %s: use a shorter id"
              .formatted(encoded.length(), MAX_ENCODED_BYTES));
    }
    return new OwnerId(id.substring(0, colon), id.substring(colon + 1), encoded);
  }

  private static boolean isKind(String id, int end) {
    for (int i = 0; i < end; i++) {
      char c = id.charAt(i);
      if (!((c >= 'a' && c <= 'z') || (i > 0 && ((c >= '0' && c <= '9') || c == '_')))) {
        return false;
      }
    }
    return end >= 1 && end <= MAX_KIND_CHARS;
  }

  /** The owner, or the inbox, whose {@link #encoded} form this is. */
  public static OwnerId ofEncoded(String encoded) {
    int mark = encoded.lastIndexOf(OF_INBOX);
    return mark < 0
        ? of(PercentEncoding.unpercent(encoded))
        : ofEncoded(encoded.substring(0, mark)).inbox(encoded.substring(mark + 1));
  }

  /**
   * Where one node puts rows that it sends to this owner, see {@link SessionId#ofInbox}.
   *
   * @param process of the node: 8 hex digits
   */
  public OwnerId inbox(String process) {
    return new OwnerId(kind, key, base().encoded + OF_INBOX + process);
  }

  /** Whether this is an {@link #inbox}. */
  public boolean isInbox() {
    return encoded.lastIndexOf(OF_INBOX) >= 0;
  }

  /** The owner whose rows these are: that of an inbox, else this one itself. */
  public OwnerId base() {
    return isInbox() ? new OwnerId(kind, key, baseOf(encoded)) : this;
  }

  /** {@link #base} of an encoded form, which is given back where it is no inbox's. */
  public static String baseOf(String encoded) {
    int mark = encoded.lastIndexOf(OF_INBOX);
    return mark < 0 ? encoded : encoded.substring(0, mark);
  }

  /** Of an inbox: the process of the node that sends by it. */
  public String sender() {
    return encoded.substring(encoded.lastIndexOf(OF_INBOX) + 1);
  }

  /**
   * The slot of this owner: CRC-32 of the encoded id, masked; an inbox is in the slot of its owner.
   * {@code slots} is a power of two.
   */
  public int slot(int slots) {
    return slotOf(baseOf(encoded), slots);
  }

  /** The slot of whatever belongs to an encoded id: {@link #slot} of an owner's. */
  public static int slotOf(String encoded, int slots) {
    CRC32 crc = new CRC32();
    crc.update(encoded.getBytes(StandardCharsets.US_ASCII));
    return (int) (crc.getValue() & (slots - 1));
  }

  /** The id as the game wrote it. */
  public String id() {
    return kind + ":" + key;
  }

  /** For messages: as the game wrote it; encoded when it has control characters. */
  @Override
  public String toString() {
    String id = id();
    return isInbox() || id.chars().anyMatch(Character::isISOControl) ? encoded : id;
  }

  /**
   * Percent encoding of untrusted text into {@code [A-Za-z0-9._~%-]}: one form per text, so equal
   * means equal. Stateless.
   */
  public static final class PercentEncoding {
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
            throw new GameQueueException(
                "'%' without two hex digits at " + i + " in an encoded id");
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
}

package io.gameq.owner;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId.PercentEncoding;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

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

  /** Characters of a malformed id that a message shows. */
  private static final int MAX_SHOWN = 60;

  private static final Pattern KIND = Pattern.compile("[a-z][a-z0-9_]{0,31}");

  private static final String ENCODED_COLON = "%3A";

  private static final char OF_INBOX = '!';

  /**
   * Parses {@code kind:key}; the key may hold any character.
   *
   * @throws GameQueueException when the kind is missing or malformed, the key is empty, or the id
   *     is too long
   */
  public static OwnerId of(@Nullable String id) {
    if (id == null) {
      throw new GameQueueException("the owner id is null: give one such as player:42");
    }
    int colon = id.indexOf(':');
    if (colon < 0 || !KIND.matcher(id.substring(0, colon)).matches() || colon == id.length() - 1) {
      throw new GameQueueException(
          ("owner id '%s' is not 'kind:key', such as player:42 (kind: a"
                  + " lower-case letter, then up to 31 of a-z 0-9 _; key: not empty)")
              .formatted(shown(id)));
    }
    String kind = id.substring(0, colon);
    String key = id.substring(colon + 1);
    String encoded = kind + ENCODED_COLON + PercentEncoding.percent(key);
    if (encoded.length() > MAX_ENCODED_BYTES) {
      throw new GameQueueException(
          "owner id '%s' takes %s bytes encoded, the limit is %s: use a shorter id"
              .formatted(shown(id), encoded.length(), MAX_ENCODED_BYTES));
    }
    return new OwnerId(kind, key, encoded);
  }

  /** The beginning of a malformed id, with control characters replaced. */
  private static String shown(String id) {
    String text = id.length() > MAX_SHOWN ? id.substring(0, MAX_SHOWN) + "..." : id;
    return text.replaceAll("[\\p{C}\\u2028\\u2029]", "?");
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
    private static final String PLAIN =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._~-";

    private static final String TILDE = URLEncoder.encode("~", StandardCharsets.UTF_8);

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
      if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
        throw new GameQueueException(
            "text of %s characters holds a lone surrogate".formatted(text.length()));
      }
      return URLEncoder.encode(text, StandardCharsets.UTF_8)
          .replace("+", "%20")
          .replace("*", "%2A")
          .replace(TILDE, "~");
    }

    /**
     * The text whose {@link #percent} form this is.
     *
     * @throws GameQueueException when it is not such a form
     */
    public static String unpercent(String encoded) {
      if (encoded.indexOf('%') < 0) {
        return encoded;
      }
      try {
        return URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
      } catch (IllegalArgumentException e) {
        throw new GameQueueException("'%' without two hex digits in an encoded id", e);
      }
    }

    private static boolean isPlain(String text) {
      for (int i = 0; i < text.length(); i++) {
        if (PLAIN.indexOf(text.charAt(i)) < 0) {
          return false;
        }
      }
      return true;
    }
  }
}

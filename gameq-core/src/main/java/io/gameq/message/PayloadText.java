package io.gameq.message;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.GameQueueException;
import io.gameq.records.PackedJson;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A payload as a person reads and edits it: what a record was encoded to as JSON, text as text, and
 * all else in hex. Immutable.
 *
 * @param isExact whether {@link #bytes} gives the bytes again: not where a record holds bytes,
 *     points in time or numbers of single precision
 */
public record PayloadText(Form form, String text, boolean isExact) {
  /** How it is written. */
  public enum Form {
    /** A record's components by name, as JSON. */
    RECORD,
    /** UTF-8. */
    TEXT,
    /** Two hex digits a byte. */
    HEX;

    /** Reads a name; throws GameQueueException when it is none. */
    public static Form of(String name) {
      return switch (name.toLowerCase(Locale.ROOT)) {
        case "record" -> RECORD;
        case "text" -> TEXT;
        case "hex" -> HEX;
        default ->
            throw new GameQueueException("a payload is given as record, text or hex, not so");
      };
    }
  }

  /** A payload as text. */
  public static PayloadText of(byte[] payload) {
    String json = PackedJson.isRecord(payload) ? PackedJson.text(payload) : null;
    if (json != null) {
      return new PayloadText(Form.RECORD, json, isExactly(payload, json));
    }
    String text = utf8(payload);
    return text == null
        ? new PayloadText(Form.HEX, HexFormat.of().formatHex(payload), true)
        : new PayloadText(Form.TEXT, text, true);
  }

  private static boolean isExactly(byte[] payload, String json) {
    return Arrays.equals(payload, PackedJson.pack(json));
  }

  private static @Nullable String utf8(byte[] payload) {
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(payload)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  /**
   * The payload that somebody wrote.
   *
   * @throws GameQueueException when the text is not of its form; it does not quote it
   */
  public static byte[] bytes(Form form, String text) {
    return switch (form) {
      case RECORD -> record(text);
      case TEXT -> text.getBytes(UTF_8);
      case HEX -> hex(text.strip());
    };
  }

  private static byte[] record(String json) {
    byte[] packed = PackedJson.pack(json);
    if (packed == null || !PackedJson.isRecord(packed)) {
      throw new GameQueueException("the payload is not one JSON object, as a record's is");
    }
    return packed;
  }

  private static byte[] hex(String text) {
    try {
      return HexFormat.of().parseHex(text);
    } catch (IllegalArgumentException e) {
      throw new GameQueueException("the payload is not hex: two digits a byte, nothing else");
    }
  }
}

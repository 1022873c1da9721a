package io.gameq.rows.types;

import io.gameq.rows.types.ColumnTypes.Refusal;
import io.gameq.rows.types.ColumnTypes.StringType;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * CHAR, VARCHAR and the TEXT family, canonical as String; immutable.
 *
 * @param limit code points for CHAR and VARCHAR, bytes in the column's character set for TEXT
 */
record TextType(Form form, long limit, TextCharset charset, @Nullable String collation)
    implements StringType {

  enum Form {
    /** Comes back without its trailing spaces. */
    CHAR,
    VARCHAR,
    /** Limited in bytes. */
    TEXT
  }

  @Override
  public Kind kind() {
    return Kind.TEXT;
  }

  @Override
  public Object canonical(Object in, String column) {
    String text = in instanceof UUID uuid ? uuid.toString() : StringType.text(in, column);
    if (form == Form.CHAR) {
      text = withoutTrailingSpaces(text);
    }
    long bytes = 0;
    long characters = 0;
    for (int i = 0; i < text.length(); characters++) {
      int codePoint = text.codePointAt(i);
      if (codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE) {
        throw Refusal.of(column, "text with a lone surrogate at " + i);
      }
      int width = charset.bytes(codePoint);
      if (width == 0) {
        throw Refusal.of(
            column,
            "the character at %s does not exist in character set %s"
                .formatted(i, charset.name().toLowerCase(Locale.ROOT)));
      }
      bytes += width;
      i += Character.charCount(codePoint);
    }
    long length = form == Form.TEXT ? bytes : characters;
    if (length > limit) {
      throw Refusal.of(
          column,
          "text of %s %s, the limit is %s"
              .formatted(length, form == Form.TEXT ? "bytes" : "characters", limit));
    }
    return text;
  }

  private static String withoutTrailingSpaces(String text) {
    int end = text.length();
    while (end > 0 && text.charAt(end - 1) == ' ') {
      end--;
    }
    return text.substring(0, end);
  }

  @Override
  public String keyText(Object canonical, String column) {
    String text = (String) canonical;
    if (padsSpaces() && text.endsWith(" ")) {
      throw Refusal.of(
          column,
          "text of %s characters ends in a space, which collation %s ignores in a key"
              .formatted(text.length(), collation));
    }
    return text;
  }

  /**
   * True when comparison ignores trailing spaces: all *_bin but those of UCA 9 and the nopad ones.
   */
  private boolean padsSpaces() {
    return collation != null && !collation.contains("_0900_") && !collation.contains("_nopad_");
  }

  @Override
  public @Nullable String keyProblem() {
    if (form == Form.TEXT) {
      return "a TEXT key column: MySQL indexes only a prefix of it, use VARCHAR";
    }
    return foldingProblem();
  }

  /** Why a comparison in MySQL takes different texts for the same, or null when it does not. */
  @Nullable String foldingProblem() {
    if (collation == null || collation.endsWith("_bin")) {
      return null;
    }
    return "collation %s would merge 'Bob' and 'bob': use %s_bin"
        .formatted(collation, charset.name().toLowerCase(Locale.ROOT));
  }

  @Override
  public int maxKeyBytes() {
    return (int) Math.min(limit * charset.maxEncodedBytes(), Integer.MAX_VALUE);
  }
}

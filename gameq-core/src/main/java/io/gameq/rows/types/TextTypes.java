package io.gameq.rows.types;

import io.gameq.GameQueueException;
import io.gameq.rows.types.ColumnType.Codec;
import io.gameq.rows.types.ColumnType.Jdbc;
import io.gameq.rows.types.ColumnType.Refusal;
import io.gameq.rows.types.ColumnTypes.Declaration;
import io.gameq.rows.types.ColumnTypes.SqlText;
import io.gameq.rows.types.ColumnTypes.UnmanageableException;
import io.gameq.rows.types.TextTypes.BinaryType.BinaryForm;
import io.gameq.rows.types.TextTypes.TextType.TextForm;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** The types of columns that hold text or bytes. Stateless. */
final class TextTypes {
  static final int UUID_BYTES = 16;

  private static final long KIB_64 = (1L << 16) - 1;
  private static final long MIB_16 = (1L << 24) - 1;

  /** LONGTEXT and LONGBLOB: a Java array holds no more, MySQL's 4 GiB are out of reach. */
  private static final long LONG = Integer.MAX_VALUE - 8;

  private static final Codec<String> STRING =
      new Codec<>(
          String.class,
          MessagePacker::packString,
          MessageUnpacker::unpackString,
          text -> text,
          "text",
          text -> text,
          "",
          Jdbc.plain(String.class));

  private static final Codec<byte[]> BYTES =
      new Codec<>(
          byte[].class,
          (out, value) -> out.packBinaryHeader(value.length).writePayload(value),
          in -> in.readPayload(in.unpackBinaryHeader()),
          HexFormat.of()::parseHex,
          "bytes as 0x00ff",
          text -> hex(text.strip()),
          new byte[0],
          Jdbc.plain(byte[].class));

  private TextTypes() {}

  /** The type of a declaration; null when it holds neither text nor bytes. */
  static @Nullable ColumnType of(Declaration of) {
    return switch (of.name()) {
      case "char" -> text(TextForm.CHAR, of.number(0, 1), of);
      case "varchar" -> text(TextForm.VARCHAR, of.number(0, 0), of);
      case "tinytext" -> text(TextForm.TEXT, 255, of);
      case "text" -> text(TextForm.TEXT, KIB_64, of);
      case "mediumtext" -> text(TextForm.TEXT, MIB_16, of);
      case "longtext" -> text(TextForm.TEXT, LONG, of);
      case "binary" -> new BinaryType(BinaryForm.BINARY, of.number(0, 1));
      case "varbinary" -> new BinaryType(BinaryForm.VARBINARY, of.number(0, 0));
      case "tinyblob" -> new BinaryType(BinaryForm.BLOB, 255);
      case "blob" -> new BinaryType(BinaryForm.BLOB, KIB_64);
      case "mediumblob" -> new BinaryType(BinaryForm.BLOB, MIB_16);
      case "longblob" -> new BinaryType(BinaryForm.BLOB, LONG);
      case "json" -> new JsonType();
      case "enum" -> new MembersType(false, SqlText.quoted(of.brackets()));
      case "set" -> new MembersType(true, SqlText.quoted(of.brackets()));
      default -> null;
    };
  }

  private static TextType text(TextForm form, long limit, Declaration of) {
    TextCharset charset = of.charset() == null ? null : TextCharset.ofName(of.charset());
    if (charset == null) {
      throw new UnmanageableException(
          "character set %s is not supported: use utf8mb4".formatted(of.charset()));
    }
    return new TextType(form, limit, charset, of.collation());
  }

  private static byte[] hex(String text) {
    if (!text.startsWith("0x")) {
      throw new IllegalArgumentException("no 0x");
    }
    return HexFormat.of().parseHex(text, 2, text.length());
  }

  /** The constant of an enum of what the column holds of each. */
  static Function<Object, Object> constants(Class<?> enumClass, Function<Object, Object> held) {
    Map<Object, Object> constants = new HashMap<>();
    for (Object of : enumClass.getEnumConstants()) {
      if (constants.put(held.apply(of), of) != null) {
        throw new GameQueueException(
            "enum %s has two constants of one number".formatted(enumClass.getName()));
      }
    }
    return value -> {
      Object constant = constants.get(value);
      if (constant == null) {
        throw new GameQueueException(
            "enum %s lacks a member of the column".formatted(enumClass.getName()));
      }
      return constant;
    };
  }

  /** A text, or the constant of that name; null for another component. */
  private static @Nullable Function<Object, Object> named(Type component) {
    if (component instanceof Class<?> of && of.isEnum()) {
      return constants(of, constant -> ((Enum<?>) constant).name());
    }
    return component == String.class ? value -> value : null;
  }

  /** A UUID for a column of 16 bytes, in the order of its text, as UUID_TO_BIN gives it. */
  static byte[] bytes(UUID uuid) {
    return ByteBuffer.allocate(UUID_BYTES)
        .putLong(uuid.getMostSignificantBits())
        .putLong(uuid.getLeastSignificantBits())
        .array();
  }

  /**
   * The text that is put, or the name of the Java constant that is.
   *
   * @throws io.gameq.RowRefusedException when it is something else
   */
  private static String text(Object in, String column) {
    if (in instanceof String text) {
      return text;
    }
    if (in instanceof Enum<?> constant) {
      return constant.name();
    }
    throw Refusal.kind(column, in, "String and enum constants");
  }

  /**
   * CHAR, VARCHAR and the TEXT family, canonical as String; immutable.
   *
   * @param limit code points for CHAR and VARCHAR, bytes in the column's character set for TEXT
   */
  record TextType(TextForm form, long limit, TextCharset charset, @Nullable String collation)
      implements ColumnType {

    enum TextForm {
      /** Comes back without its trailing spaces. */
      CHAR,
      VARCHAR,
      /** Limited in bytes. */
      TEXT
    }

    @Override
    public Codec<?> codec() {
      return STRING;
    }

    @Override
    public boolean isText() {
      return true;
    }

    @Override
    public @Nullable Function<Object, Object> reader(Type component) {
      if (component == UUID.class) {
        return text -> UUID.fromString((String) text);
      }
      return named(component);
    }

    @Override
    public Object canonical(Object in, String column) {
      String text = in instanceof UUID uuid ? uuid.toString() : text(in, column);
      int end = text.length();
      while (form == TextForm.CHAR && end > 0 && text.charAt(end - 1) == ' ') {
        end--;
      }
      text = text.substring(0, end);
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
      long length = form == TextForm.TEXT ? bytes : characters;
      if (length > limit) {
        throw Refusal.of(
            column,
            "text of %s %s, the limit is %s"
                .formatted(length, form == TextForm.TEXT ? "bytes" : "characters", limit));
      }
      return text;
    }

    @Override
    public String keyText(Object canonical, String column) {
      String text = (String) canonical;
      // Comparison ignores trailing spaces in all *_bin but those of UCA 9 and the nopad ones.
      boolean isPadded =
          collation != null && !collation.contains("_0900_") && !collation.contains("_nopad_");
      if (isPadded && text.endsWith(" ")) {
        throw Refusal.of(
            column,
            "text of %s characters ends in a space, which collation %s ignores in a key"
                .formatted(text.length(), collation));
      }
      return text;
    }

    @Override
    public @Nullable String keyProblem() {
      if (form == TextForm.TEXT) {
        return "a TEXT key column: MySQL indexes only a prefix of it, use VARCHAR";
      }
      return collation == null || collation.endsWith("_bin")
          ? null
          : "collation %s would merge 'Bob' and 'bob': use %s_bin"
              .formatted(collation, charset.name().toLowerCase(Locale.ROOT));
    }

    @Override
    public int maxKeyBytes() {
      return (int) Math.min(limit * charset.maxEncodedBytes(), Integer.MAX_VALUE);
    }
  }

  /** MySQL's JSON, canonical as the text that MySQL prints; immutable. */
  record JsonType() implements ColumnType {
    @Override
    public Codec<?> codec() {
      return STRING;
    }

    @Override
    public boolean holdsJson() {
      return true;
    }

    @Override
    public String impliedDefault() {
      return "null";
    }

    @Override
    public String keyProblem() {
      return "a JSON key column";
    }

    @Override
    public Object canonical(Object in, String column) {
      if (!(in instanceof String text)) {
        throw Refusal.kind(column, in, "String");
      }
      return JsonText.canonical(text, column);
    }
  }

  /**
   * ENUM, canonical as exactly one of the members, and SET, canonical as members comma-separated in
   * the order of their definition; immutable.
   */
  record MembersType(boolean isSet, List<String> members) implements ColumnType {
    @Override
    public Codec<?> codec() {
      return STRING;
    }

    @Override
    public @Nullable Function<Object, Object> reader(Type component) {
      if (isSet && component.getTypeName().equals("java.util.Set<java.lang.String>")) {
        return MembersType::set;
      }
      return isSet ? ColumnType.super.reader(component) : named(component);
    }

    private static Set<String> set(Object value) {
      String text = (String) value;
      return text.isEmpty()
          ? Set.of()
          : Collections.unmodifiableSet(new LinkedHashSet<>(Arrays.asList(text.split(",", -1))));
    }

    @Override
    public String impliedDefault() {
      return isSet ? "" : members.get(0);
    }

    @Override
    public Object canonical(Object in, String column) {
      if (!isSet) {
        return members.get(index(text(in, column), column));
      }
      BitSet chosen = new BitSet();
      if (in instanceof Collection<?> all) {
        all.forEach(of -> chosen.set(index(element(of, column), column)));
      } else if (!(in instanceof String text)) {
        throw Refusal.kind(column, in, "String and collections of String or enum constants");
      } else if (!text.isEmpty()) {
        for (String of : text.split(",", -1)) {
          chosen.set(index(of, column));
        }
      }
      return chosen.stream().mapToObj(members::get).collect(Collectors.joining(","));
    }

    private static String element(Object of, String column) {
      if (of instanceof String || of instanceof Enum<?>) {
        return text(of, column);
      }
      throw Refusal.of(column, "takes a collection of String or enum constants only");
    }

    private int index(String text, String column) {
      int index = members.indexOf(text);
      if (index < 0) {
        throw Refusal.of(
            column,
            "a text of %s characters is none of the %s members, letter case included"
                .formatted(text.length(), members.size()));
      }
      return index;
    }

    @Override
    public int maxKeyBytes() {
      IntStream bytes = members.stream().mapToInt(of -> 12 * of.length());
      return isSet ? bytes.map(of -> of + 3).sum() : bytes.max().orElse(0);
    }
  }

  /** BINARY, VARBINARY and the BLOB family, canonical as byte[]; immutable. */
  record BinaryType(BinaryForm form, long limit) implements ColumnType {
    enum BinaryForm {
      /** Padded with zero bytes to the limit, as it comes back. */
      BINARY,
      VARBINARY,
      BLOB
    }

    @Override
    public Codec<?> codec() {
      return BYTES;
    }

    @Override
    public @Nullable Function<Object, Object> reader(Type component) {
      return component == UUID.class
          ? bytes -> uuid((byte[]) bytes)
          : ColumnType.super.reader(component);
    }

    /** Throws IllegalArgumentException when these are not 16 bytes. */
    private static UUID uuid(byte[] bytes) {
      if (bytes.length != UUID_BYTES) {
        throw new IllegalArgumentException("%s bytes are no UUID".formatted(bytes.length));
      }
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      return new UUID(buffer.getLong(), buffer.getLong());
    }

    @Override
    public byte @Nullable [] ofDefault(String text, boolean mariaDb) {
      if (!mariaDb) {
        return text.toLowerCase(Locale.ROOT).startsWith("0x")
            ? HexFormat.of().parseHex(text.substring(2))
            : text.isEmpty() ? new byte[0] : null;
      }
      byte[] ascii = text.getBytes(StandardCharsets.US_ASCII);
      return new String(ascii, StandardCharsets.US_ASCII).equals(text) ? ascii : null;
    }

    @Override
    public @Nullable String ownerKeyForm() {
      return form == BinaryForm.BINARY && limit == UUID_BYTES
          ? "as a UUID, in lower case with its dashes"
          : null;
    }

    @Override
    public String ownerKey(Object canonical) {
      return uuid((byte[]) canonical).toString();
    }

    @Override
    public Object ofOwnerKey(String key) {
      return UUID.fromString(key);
    }

    /** A copy: the game may go on changing its array. */
    @Override
    public Object canonical(Object in, String column) {
      if (in instanceof UUID uuid && limit == UUID_BYTES) {
        return bytes(uuid);
      }
      if (!(in instanceof byte[] bytes)) {
        throw Refusal.kind(column, in, limit == UUID_BYTES ? "byte[] and UUID" : "byte[]");
      }
      if (bytes.length > limit) {
        throw Refusal.of(
            column, "byte[] of %s bytes, the limit is %s".formatted(bytes.length, limit));
      }
      return form == BinaryForm.BINARY ? Arrays.copyOf(bytes, (int) limit) : bytes.clone();
    }

    @Override
    public @Nullable String keyProblem() {
      return form == BinaryForm.BLOB
          ? "a BLOB key column: MySQL indexes only a prefix of it, use VARBINARY"
          : null;
    }

    @Override
    public int minKeyBytes() {
      return form == BinaryForm.BINARY ? maxKeyBytes() : 0;
    }

    @Override
    public int maxKeyBytes() {
      return (int) Math.min(limit * 2, Integer.MAX_VALUE);
    }
  }

  /** The character sets of managed text columns: which code points they hold, in how many bytes. */
  enum TextCharset {
    UTF8MB4,
    UTF8MB3,
    ASCII,
    LATIN1;

    /**
     * MySQL's latin1 is windows-1252. The five bytes which that leaves open are control codes to
     * the server, but the driver does not read them back.
     */
    private static final BitSet LATIN1_CODE_POINTS = latin1();

    /** The character set of this MySQL name, or null when gameq cannot count its bytes. */
    static @Nullable TextCharset ofName(String name) {
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
}

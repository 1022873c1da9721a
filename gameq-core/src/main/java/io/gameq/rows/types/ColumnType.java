package io.gameq.rows.types;

import io.gameq.RowRefusedException;
import io.gameq.owner.OwnerId.PercentEncoding;
import java.io.IOException;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DateTimeException;
import java.util.Collection;
import java.util.HexFormat;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/**
 * The type of a column: checks what the game puts, turns it into one canonical Java value, and says
 * how that is written: as MessagePack, in a row key, in MySQL, and for people; immutable.
 *
 * <p>A canonical value is what MySQL gives back after storing it, so that a row read from Redis
 * equals the row read from MySQL.
 */
public interface ColumnType {
  Codec<?> codec();

  /**
   * How the canonical values of one Java class are written; immutable.
   *
   * @param ofKeyText reads {@link #keyText}
   * @param hint what people are to type
   * @param ofText reads what people type, for {@link #canonical}; throws IllegalArgumentException,
   *     DateTimeException or ArithmeticException
   * @param implied see {@link #impliedDefault}
   * @param jdbc how they travel over JDBC
   */
  record Codec<V>(
      Class<V> type,
      Packer<V> packer,
      Unpacker<V> unpacker,
      Function<String, V> ofKeyText,
      String hint,
      Function<String, Object> ofText,
      @Nullable Object implied,
      Jdbc jdbc) {

    /** Writes a value as MessagePack. */
    interface Packer<V> {
      void pack(MessagePacker out, V value) throws IOException;
    }

    /** Reads it. */
    interface Unpacker<V> {
      V unpack(MessageUnpacker in) throws IOException;
    }
  }

  /**
   * How canonical values travel over JDBC, exactly; immutable.
   *
   * @param select what to select, with %s for the column's quoted name
   * @param placeholder of a parameter
   * @param type of what a result set is to give: Long, Double, BigDecimal, byte[] or String
   * @param toParameter what to set a parameter to
   * @param ofResult the canonical value of what was selected; throws DateTimeException when it is a
   *     date that does not exist
   */
  record Jdbc(
      String select,
      String placeholder,
      Class<?> type,
      Function<Object, Object> toParameter,
      Function<Object, Object> ofResult) {

    /** Values that travel as they are. */
    static Jdbc plain(Class<?> type) {
      return new Jdbc("%s", "?", type, value -> value, value -> value);
    }
  }

  default Jdbc jdbc() {
    return codec().jdbc;
  }

  /** The class of the canonical values. */
  default Class<?> valueClass() {
    return codec().type;
  }

  /** Whether it is CHAR, VARCHAR or of the TEXT family. */
  default boolean isText() {
    return false;
  }

  /** Whether it holds JSON, checked or as text. */
  default boolean holdsJson() {
    return isText();
  }

  /** Whether it holds whole numbers and is no BIT. */
  default boolean isInteger() {
    return false;
  }

  /** How the key of an owner is written whom a value names; null where none can name one. */
  default @Nullable String ownerKeyForm() {
    if (isText()) {
      return "as the column stores the text";
    }
    return isInteger() ? "as a decimal number without leading zeros" : null;
  }

  /** The key of the owner that a canonical value names: one text per value. */
  default String ownerKey(Object canonical) {
    return canonical.toString();
  }

  /**
   * The value that an owner's key names, for {@link #canonical}; which of its forms it is, {@link
   * #ownerKey} tells.
   *
   * @throws IllegalArgumentException when it names none
   */
  default Object ofOwnerKey(String key) {
    return isText() ? key : new BigInteger(key);
  }

  /**
   * The canonical form of a value. Of a time, fraction digits that the column does not keep are
   * cut: MySQL would round them, and a row would be in the future.
   *
   * @param column named in the refusal, as {@code table.column}
   * @throws io.gameq.RowRefusedException when the column cannot hold the value
   */
  Object canonical(Object in, String column);

  /**
   * The same, with nothing cut: for keys, where two rows would become one.
   *
   * @throws io.gameq.RowRefusedException when the column cannot hold the value exactly
   */
  default Object canonicalExactly(Object in, String column) {
    return canonical(in, column);
  }

  /**
   * How a canonical value becomes a component of a record; null when they do not go together. The
   * function throws ArithmeticException or IllegalArgumentException when the component cannot hold
   * the value.
   *
   * @param component boxed
   */
  default @Nullable Function<Object, Object> reader(Type component) {
    return component == valueClass() ? value -> value : null;
  }

  /**
   * What ALTER TABLE ... ADD COLUMN puts into the rows that are there when the column is NOT NULL
   * and has no default: a row from before takes the same. Null for dates, which have none under a
   * strict sql_mode.
   */
  default @Nullable Object impliedDefault() {
    Object value = codec().implied;
    return value == null ? null : canonical(value, "default");
  }

  /** Writes a canonical value as MessagePack. */
  @SuppressWarnings("unchecked") // canonical values are of the codec's class
  default void pack(MessagePacker out, Object canonical) throws IOException {
    ((Codec<Object>) codec()).packer.pack(out, canonical);
  }

  /** The canonical value that {@link #pack} wrote. */
  default Object unpack(MessageUnpacker in) throws IOException {
    return codec().unpacker.unpack(in);
  }

  /**
   * A canonical value as text of a row key, not yet percent-encoded: one text per value. Call it
   * only for types without a {@link #keyProblem}.
   *
   * @throws io.gameq.RowRefusedException when MySQL would take the value for another key
   */
  default String keyText(Object canonical, String column) {
    if (canonical instanceof byte[] bytes) {
      return HexFormat.of().formatHex(bytes);
    }
    return canonical instanceof BigDecimal number ? number.toPlainString() : canonical.toString();
  }

  /** Appends it, percent-encoded. Throws as {@link #keyText}. */
  default void appendKeyText(StringBuilder to, Object canonical, String column) {
    if (canonical instanceof Long number) { // without a text of its own: most keys have one
      to.append((long) number);
    } else {
      to.append(PercentEncoding.percent(keyText(canonical, column)));
    }
  }

  /** The canonical value whose {@link #keyText} this is. */
  default Object ofKeyText(String text) {
    return codec().ofKeyText.apply(text);
  }

  /** Why a column of this type cannot be part of a managed primary key, or null if it can. */
  default @Nullable String keyProblem() {
    return null;
  }

  /** The shortest key text of this type, in bytes. */
  default int minKeyBytes() {
    return 0;
  }

  /** The longest percent-encoded key text of this type, in bytes. */
  default int maxKeyBytes() {
    return 48;
  }

  /** A canonical value as text that people read, in a form that {@link #ofText} takes again. */
  static String text(Object canonical) {
    if (canonical instanceof byte[] bytes) {
      return "0x" + HexFormat.of().formatHex(bytes);
    }
    return canonical instanceof BigDecimal number ? number.toPlainString() : canonical.toString();
  }

  /**
   * The value that a text of people stands for, for {@link #canonical}.
   *
   * @param column named in the refusal, as {@code table.column}
   * @throws io.gameq.RowRefusedException when the text is none of the type's values; the message
   *     has the form to use, not the text
   */
  default Object ofText(String text, String column) {
    try {
      return codec().ofText.apply(text);
    } catch (IllegalArgumentException | DateTimeException | ArithmeticException e) {
      throw Refusal.of(
          column,
          "takes %s, and the text of %s characters is not that"
              .formatted(codec().hint, text.length()));
    }
  }

  /**
   * The value of a column default, for {@link #canonical}, or null when that cannot be told. Throws
   * as {@link Codec#ofText}.
   *
   * @param text the literal, without quotes
   */
  default @Nullable Object ofDefault(String text, boolean mariaDb) {
    return codec().ofText.apply(text);
  }

  /**
   * Words every refusal of a value the same way: the column, the limit, never the value. Stateless.
   */
  final class Refusal {
    private Refusal() {}

    public static RowRefusedException of(String column, String problem) {
      return new RowRefusedException(column + ": " + problem);
    }

    /** The value's class is not one that the column takes. */
    static RowRefusedException kind(String column, Object in, String takes) {
      return of(column, "takes " + takes + ", not " + describe(in));
    }

    /** The value lies outside of {@code range}. */
    static RowRefusedException range(String column, String range, Object in) {
      return of(column, "holds " + range + ", the " + describe(in) + " lies outside");
    }

    private static String describe(Object in) {
      if (in instanceof String text) {
        return "String of " + text.length() + " characters";
      }
      if (in instanceof byte[] bytes) {
        return "byte[] of " + bytes.length + " bytes";
      }
      if (in instanceof Collection<?> all) {
        return "collection of " + all.size() + " elements";
      }
      return in.getClass().getSimpleName();
    }
  }
}

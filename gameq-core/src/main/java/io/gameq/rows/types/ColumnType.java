package io.gameq.rows.types;

import io.gameq.RowRefusedException;
import io.gameq.owner.OwnerId.PercentEncoding;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/**
 * The type of a column: checks what the game puts, turns it into one canonical Java value, and
 * writes that as MessagePack and as the text of a row key; immutable.
 *
 * <p>A canonical value is what MySQL gives back after storing it, so that a row read from Redis
 * equals the row read from MySQL.
 */
public interface ColumnType {
  /** What the canonical Java value of a type is, and how it travels over JDBC. */
  enum Kind {
    INTEGER(Long.class),
    UNSIGNED_LONG(BigInteger.class),
    BIT(BigInteger.class),
    /** Of the column's scale. */
    DECIMAL(BigDecimal.class),
    FLOAT(Float.class),
    DOUBLE(Double.class),
    TEXT(String.class),
    /** As MySQL prints it. */
    JSON(String.class),
    BINARY(byte[].class),
    ENUM(String.class),
    /** Members comma-separated in the order of their definition. */
    SET(String.class),
    DATE(LocalDate.class),
    DATETIME(LocalDateTime.class),
    TIMESTAMP(Instant.class),
    TIME(Duration.class);

    private final Class<?> canonical;

    Kind(Class<?> canonical) {
      this.canonical = canonical;
    }

    /** The class of its canonical values. */
    public Class<?> canonical() {
      return canonical;
    }
  }

  Kind kind();

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

  /** Writes a canonical value as MessagePack. */
  static void pack(MessagePacker out, Object canonical) throws IOException {
    if (canonical instanceof Long value) {
      out.packLong(value);
    } else if (canonical instanceof String value) {
      out.packString(value);
    } else if (canonical instanceof Double value) {
      out.packDouble(value);
    } else if (canonical instanceof byte[] value) {
      out.packBinaryHeader(value.length);
      out.writePayload(value);
    } else if (canonical instanceof Instant value) {
      out.packLong(Micros.of(value));
    } else if (canonical instanceof LocalDateTime value) {
      out.packLong(Micros.of(value.toInstant(ZoneOffset.UTC)));
    } else if (canonical instanceof LocalDate value) {
      out.packLong(value.toEpochDay());
    } else if (canonical instanceof Duration value) {
      out.packLong(Micros.of(value.toSeconds(), value.toNanosPart()));
    } else if (canonical instanceof Float value) {
      out.packFloat(value);
    } else if (canonical instanceof BigDecimal value) {
      out.packString(value.toPlainString());
    } else {
      out.packBigInteger((BigInteger) canonical);
    }
  }

  /** The canonical value that {@link #pack} wrote. */
  default Object unpack(MessageUnpacker in) throws IOException {
    return switch (kind()) {
      case INTEGER -> in.unpackLong();
      case UNSIGNED_LONG, BIT -> in.unpackBigInteger();
      case DECIMAL -> new BigDecimal(in.unpackString());
      case FLOAT -> in.unpackFloat();
      case DOUBLE -> in.unpackDouble();
      case TEXT, JSON, ENUM, SET -> in.unpackString();
      case BINARY -> in.readPayload(in.unpackBinaryHeader());
      case DATE -> LocalDate.ofEpochDay(in.unpackLong());
      case DATETIME -> LocalDateTime.ofInstant(Micros.instant(in.unpackLong()), ZoneOffset.UTC);
      case TIMESTAMP -> Micros.instant(in.unpackLong());
      case TIME -> Duration.between(Instant.EPOCH, Micros.instant(in.unpackLong()));
    };
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
    return switch (kind()) {
      case INTEGER -> Long.parseLong(text);
      case UNSIGNED_LONG -> new BigInteger(text);
      case DECIMAL -> new BigDecimal(text);
      case TEXT, ENUM, SET -> text;
      case BINARY -> HexFormat.of().parseHex(text);
      case DATE -> LocalDate.parse(text);
      case DATETIME -> LocalDateTime.parse(text);
      case TIMESTAMP -> Instant.parse(text);
      case TIME -> Duration.parse(text);
      case BIT, FLOAT, DOUBLE, JSON -> throw new UnsupportedOperationException(keyProblem());
    };
  }

  /** Why a column of this type cannot be part of a managed primary key, or null if it can. */
  default @Nullable String keyProblem() {
    return switch (kind()) {
      // MySQL compares a BIT with the bytes that a driver sends as if both were floating-point.
      case BIT -> "a BIT key column: use an unsigned integer";
      case FLOAT, DOUBLE ->
          "a floating-point key column: equality of such numbers is not to be relied on";
      case JSON -> "a JSON key column";
      default -> null;
    };
  }

  /** The shortest key text of this type, in bytes. */
  default int minKeyBytes() {
    return 0;
  }

  /** The longest percent-encoded key text of this type, in bytes. */
  default int maxKeyBytes() {
    return 48;
  }

  /**
   * Times as whole microseconds, the finest that MySQL keeps. Stateless.
   *
   * <p>From year 0 to 9999 they fit a long with a factor of thirty to spare.
   */
  final class Micros {
    private static final long PER_SECOND = 1_000_000;

    /** Nanoseconds in one unit of the last digit, by the number of fraction digits. */
    private static final int[] UNIT = {
      1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000
    };

    private Micros() {}

    /** The fraction cut to this many digits. */
    static int truncate(int nanos, int digits) {
      return nanos - nanos % UNIT[digits];
    }

    static long of(Instant time) {
      return of(time.getEpochSecond(), time.getNano());
    }

    static long of(long seconds, int nanos) {
      return seconds * PER_SECOND + nanos / 1_000;
    }

    static Instant instant(long micros) {
      return Instant.ofEpochSecond(
          Math.floorDiv(micros, PER_SECOND), Math.floorMod(micros, PER_SECOND) * 1_000);
    }
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

package io.gameq.rows.types;

import io.gameq.owner.DurableSessions.PercentEncoding;
import io.gameq.rows.types.ColumnTypes.BigIntegerType;
import io.gameq.rows.types.ColumnTypes.DateTimeType;
import io.gameq.rows.types.ColumnTypes.DateType;
import io.gameq.rows.types.ColumnTypes.DoubleType;
import io.gameq.rows.types.ColumnTypes.StringType;
import java.io.IOException;
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
public sealed interface ColumnType
    permits IntegerType,
        BigIntegerType,
        DecimalType,
        FloatType,
        DoubleType,
        StringType,
        BinaryType,
        DateType,
        DateTimeType,
        TimestampType,
        TimeType {

  /** What the canonical Java value of a type is, and how it travels over JDBC. */
  enum Kind {
    /** Long. */
    INTEGER,
    /** BigInteger. */
    UNSIGNED_LONG,
    /** BigInteger. */
    BIT,
    /** BigDecimal of the column's scale. */
    DECIMAL,
    /** Float. */
    FLOAT,
    /** Double. */
    DOUBLE,
    /** String. */
    TEXT,
    /** String, as MySQL prints it. */
    JSON,
    /** byte[]. */
    BINARY,
    /** String. */
    ENUM,
    /** String, members comma-separated in the order of their definition. */
    SET,
    /** LocalDate. */
    DATE,
    /** LocalDateTime. */
    DATETIME,
    /** Instant. */
    TIMESTAMP,
    /** Duration. */
    TIME
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

  void pack(MessagePacker out, Object canonical) throws IOException;

  /** The canonical value that {@link #pack} wrote. */
  Object unpack(MessageUnpacker in) throws IOException;

  /**
   * A canonical value as text of a row key, not yet percent-encoded: one text per value.
   *
   * @throws io.gameq.RowRefusedException when MySQL would take the value for another key
   */
  default String keyText(Object canonical, String column) {
    throw new UnsupportedOperationException(keyProblem());
  }

  /** Appends it, percent-encoded. Throws as {@link #keyText}. */
  default void appendKeyText(StringBuilder to, Object canonical, String column) {
    to.append(PercentEncoding.percent(keyText(canonical, column)));
  }

  /** The canonical value whose {@link #keyText} this is. */
  default Object ofKeyText(String text) {
    throw new UnsupportedOperationException(keyProblem());
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
}

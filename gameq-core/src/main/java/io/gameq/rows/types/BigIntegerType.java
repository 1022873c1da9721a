package io.gameq.rows.types;

import java.io.IOException;
import java.math.BigInteger;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** A type whose canonical value is a BigInteger, with its decimal digits as key text. */
sealed interface BigIntegerType extends ColumnType permits UnsignedLongType, BitType {
  @Override
  default void pack(MessagePacker out, Object canonical) throws IOException {
    out.packBigInteger((BigInteger) canonical);
  }

  @Override
  default Object unpack(MessageUnpacker in) throws IOException {
    return in.unpackBigInteger();
  }

  @Override
  default String keyText(Object canonical, String column) {
    return canonical.toString();
  }

  @Override
  default Object ofKeyText(String text) {
    return new BigInteger(text);
  }
}

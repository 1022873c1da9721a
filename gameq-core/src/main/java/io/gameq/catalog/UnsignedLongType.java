package io.gameq.catalog;

import java.io.IOException;
import java.math.BigInteger;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** BIGINT UNSIGNED, canonical as BigInteger; immutable. */
record UnsignedLongType() implements ColumnType {
  @Override
  public Kind kind() {
    return Kind.UNSIGNED_LONG;
  }

  @Override
  public Object canonical(Object in, String column) {
    BigInteger value = Numbers.integral(in);
    if (value == null) {
      throw Refusal.kind(column, in, "integers");
    }
    if (value.signum() < 0 || value.bitLength() > 64) {
      throw Refusal.range(column, "0 to 2^64-1", in);
    }
    return value;
  }

  @Override
  public void pack(MessagePacker out, Object canonical) throws IOException {
    out.packBigInteger((BigInteger) canonical);
  }

  @Override
  public Object unpack(MessageUnpacker in) throws IOException {
    return in.unpackBigInteger();
  }

  @Override
  public String keyText(Object canonical, String column) {
    return canonical.toString();
  }

  @Override
  public Object ofKeyText(String text) {
    return new BigInteger(text);
  }
}

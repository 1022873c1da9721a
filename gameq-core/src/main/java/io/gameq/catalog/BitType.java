package io.gameq.catalog;

import java.io.IOException;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** BIT(bits), canonical as BigInteger; immutable. */
record BitType(int bits) implements ColumnType {
  @Override
  public Kind kind() {
    return Kind.BIT;
  }

  @Override
  public Object canonical(Object in, String column) {
    if (in instanceof Boolean flag) {
      return flag ? BigInteger.ONE : BigInteger.ZERO;
    }
    BigInteger value = Numbers.integral(in);
    if (value == null) {
      throw Refusal.kind(column, in, "integers and booleans");
    }
    if (value.signum() < 0 || value.bitLength() > bits) {
      throw Refusal.range(column, "0 to 2^%d-1".formatted(bits), in);
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

  @Override
  public @Nullable String keyProblem() {
    // MySQL compares a BIT with the bytes that a driver sends as if both were floating-point.
    return "a BIT key column: use an unsigned integer";
  }
}

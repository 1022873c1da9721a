package io.gameq.rows.types;

import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** BIT(bits), canonical as BigInteger; immutable. */
record BitType(int bits) implements BigIntegerType {
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
      throw Refusal.range(column, "0 to 2^%s-1".formatted(bits), in);
    }
    return value;
  }

  @Override
  public @Nullable String keyProblem() {
    // MySQL compares a BIT with the bytes that a driver sends as if both were floating-point.
    return "a BIT key column: use an unsigned integer";
  }
}

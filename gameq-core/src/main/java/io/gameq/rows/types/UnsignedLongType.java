package io.gameq.rows.types;

import java.math.BigInteger;

/** BIGINT UNSIGNED, canonical as BigInteger; immutable. */
record UnsignedLongType() implements BigIntegerType {
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
}

package io.gameq.rows.types;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** DOUBLE, canonical as Double; immutable. */
record DoubleType(boolean unsigned) implements ColumnType {
  /** Integers up to here are exact as a double. */
  private static final long MAX_EXACT = 1L << 53;

  @Override
  public Kind kind() {
    return Kind.DOUBLE;
  }

  @Override
  public Object canonical(Object in, String column) {
    double value;
    if (in instanceof Double || in instanceof Float) {
      value = ((Number) in).doubleValue();
    } else if (Numbers.isPrimitiveIntegral(in)) {
      long integral = ((Number) in).longValue();
      if (integral > MAX_EXACT || integral < -MAX_EXACT) {
        throw Refusal.range(column, "integers up to 2^53 exactly", in);
      }
      value = integral;
    } else {
      throw Refusal.kind(column, in, "Double and Float");
    }
    if (!Double.isFinite(value)) {
      throw Refusal.of(column, "holds neither NaN nor an infinity");
    }
    if (unsigned && (value < 0 || Double.compare(value, -0.0) == 0)) {
      throw Refusal.range(column, "no negative numbers", in);
    }
    return value;
  }

  @Override
  public void pack(MessagePacker out, Object canonical) throws IOException {
    out.packDouble((Double) canonical);
  }

  @Override
  public Object unpack(MessageUnpacker in) throws IOException {
    return in.unpackDouble();
  }

  @Override
  public @Nullable String keyProblem() {
    return "a floating-point key column: equality of such numbers is not to be relied on";
  }
}

package io.gameq.rows.types;

import io.gameq.rows.types.ColumnTypes.Refusal;
import io.gameq.rows.types.IntegerType.Numbers;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** FLOAT, canonical as Float; immutable. A double that a float would round is refused. */
record FloatType(boolean unsigned) implements ColumnType {
  /** Integers up to here are exact as a float. */
  private static final long MAX_EXACT = 1L << 24;

  @Override
  public Kind kind() {
    return Kind.FLOAT;
  }

  @Override
  public Object canonical(Object in, String column) {
    float value;
    if (in instanceof Float f) {
      value = f;
    } else if (in instanceof Double d) {
      value = d.floatValue();
      if (Double.compare(value, d) != 0) {
        throw Refusal.of(column, "a FLOAT would round the Double: put a Float, or use DOUBLE");
      }
    } else if (Numbers.isPrimitiveIntegral(in)) {
      long integral = ((Number) in).longValue();
      if (integral > MAX_EXACT || integral < -MAX_EXACT) {
        throw Refusal.range(column, "integers up to 2^24 exactly", in);
      }
      value = integral;
    } else {
      throw Refusal.kind(column, in, "Float");
    }
    if (!Float.isFinite(value)) {
      throw Refusal.of(column, "holds neither NaN nor an infinity");
    }
    if (unsigned && (value < 0 || Float.compare(value, -0.0f) == 0)) {
      throw Refusal.range(column, "no negative numbers", in);
    }
    return value;
  }

  @Override
  public void pack(MessagePacker out, Object canonical) throws IOException {
    out.packFloat((Float) canonical);
  }

  @Override
  public Object unpack(MessageUnpacker in) throws IOException {
    return in.unpackFloat();
  }

  @Override
  public @Nullable String keyProblem() {
    return "a floating-point key column: equality of such numbers is not to be relied on";
  }
}

package io.gameq.rows.types;

import io.gameq.rows.types.ColumnTypes.Refusal;
import io.gameq.rows.types.IntegerType.Numbers;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** DECIMAL(precision, scale), canonical as BigDecimal of exactly that scale; immutable. */
record DecimalType(int precision, int scale, boolean unsigned) implements ColumnType {
  @Override
  public Kind kind() {
    return Kind.DECIMAL;
  }

  @Override
  public Object canonical(Object in, String column) {
    BigDecimal value = decimal(in, column);
    if (value.signum() == 0) {
      return BigDecimal.ZERO.setScale(scale);
    }
    if (unsigned && value.signum() < 0) {
      throw Refusal.range(column, "no negative numbers", in);
    }
    if (value.scale() > scale) {
      value = value.stripTrailingZeros();
      if (value.scale() > scale) {
        throw Refusal.of(column, "keeps %s fraction digits, the value has more".formatted(scale));
      }
    }
    // Before setScale: widening a number like 1E+1000000000 would take all memory.
    if ((long) value.precision() - value.scale() > precision - scale) {
      throw Refusal.range(column, "%s digits before the point".formatted(precision - scale), in);
    }
    return value.setScale(scale);
  }

  private static BigDecimal decimal(Object in, String column) {
    if (in instanceof BigDecimal value) {
      return value;
    }
    BigInteger integral = Numbers.integral(in);
    if (integral == null) {
      throw Refusal.kind(column, in, "BigDecimal and integers");
    }
    return new BigDecimal(integral);
  }

  @Override
  public void pack(MessagePacker out, Object canonical) throws IOException {
    out.packString(((BigDecimal) canonical).toPlainString());
  }

  @Override
  public Object unpack(MessageUnpacker in) throws IOException {
    return new BigDecimal(in.unpackString());
  }

  @Override
  public String keyText(Object canonical, String column) {
    return ((BigDecimal) canonical).toPlainString();
  }

  @Override
  public Object ofKeyText(String text) {
    return new BigDecimal(text);
  }

  @Override
  public int maxKeyBytes() {
    return precision + 3;
  }
}

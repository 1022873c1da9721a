package io.gameq.rows.types;

import io.gameq.rows.types.ColumnTypes.Refusal;
import java.io.IOException;
import java.time.Duration;
import java.time.LocalTime;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** TIME(digits), which MySQL counts from -838 to 838 hours, canonical as Duration; immutable. */
record TimeType(int digits) implements ColumnType {
  private static final Duration MAX = Duration.ofHours(838).plusMinutes(59).plusSeconds(59);

  @Override
  public Kind kind() {
    return Kind.TIME;
  }

  @Override
  public Object canonical(Object in, String column) {
    Duration time = duration(in, column);
    Duration cut = cut(time.abs());
    if (cut.compareTo(MAX) > 0) {
      throw Refusal.range(column, "-838:59:59 to 838:59:59", in);
    }
    return time.isNegative() ? cut.negated() : cut;
  }

  private Duration cut(Duration positive) {
    return Duration.ofSeconds(
        positive.toSeconds(), Micros.truncate(positive.toNanosPart(), digits));
  }

  private static Duration duration(Object in, String column) {
    if (in instanceof LocalTime ofDay) {
      return Duration.ofNanos(ofDay.toNanoOfDay());
    }
    if (in instanceof Duration duration) {
      return duration;
    }
    throw Refusal.kind(column, in, "Duration and LocalTime");
  }

  @Override
  public Object canonicalExactly(Object in, String column) {
    Micros.checkFraction(duration(in, column).abs().toNanosPart(), digits, column);
    return canonical(in, column);
  }

  @Override
  public void pack(MessagePacker out, Object canonical) throws IOException {
    Duration time = (Duration) canonical;
    out.packLong(Micros.of(time.toSeconds(), time.toNanosPart()));
  }

  @Override
  public Object unpack(MessageUnpacker in) throws IOException {
    long micros = in.unpackLong();
    return Duration.ofSeconds(Micros.seconds(micros), Micros.nanos(micros));
  }

  @Override
  public String keyText(Object canonical, String column) {
    return canonical.toString();
  }

  @Override
  public Object ofKeyText(String text) {
    return Duration.parse(text);
  }
}

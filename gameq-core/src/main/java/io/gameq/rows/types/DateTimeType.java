package io.gameq.rows.types;

import java.io.IOException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** DATETIME(digits), which has no zone, canonical as LocalDateTime; immutable. */
record DateTimeType(int digits) implements ColumnType {
  @Override
  public Kind kind() {
    return Kind.DATETIME;
  }

  @Override
  public Object canonical(Object in, String column) {
    if (!(in instanceof LocalDateTime time)) {
      throw Refusal.kind(column, in, "LocalDateTime (Instant goes with TIMESTAMP)");
    }
    if (time.getYear() < 1 || time.getYear() > 9999) {
      throw Refusal.range(column, "0001-01-01T00:00 to the end of 9999", in);
    }
    return time.withNano(Micros.truncate(time.get(ChronoField.NANO_OF_SECOND), digits));
  }

  @Override
  public Object canonicalExactly(Object in, String column) {
    if (in instanceof LocalDateTime time) {
      Micros.checkFraction(time.get(ChronoField.NANO_OF_SECOND), digits, column);
    }
    return canonical(in, column);
  }

  @Override
  public void pack(MessagePacker out, Object canonical) throws IOException {
    Instant time = ((LocalDateTime) canonical).toInstant(ZoneOffset.UTC);
    out.packLong(Micros.of(time.getEpochSecond(), time.get(ChronoField.NANO_OF_SECOND)));
  }

  @Override
  public Object unpack(MessageUnpacker in) throws IOException {
    long micros = in.unpackLong();
    return LocalDateTime.ofEpochSecond(
        Micros.seconds(micros), Micros.nanos(micros), ZoneOffset.UTC);
  }

  @Override
  public String keyText(Object canonical, String column) {
    return canonical.toString();
  }

  @Override
  public Object ofKeyText(String text) {
    return LocalDateTime.parse(text);
  }
}

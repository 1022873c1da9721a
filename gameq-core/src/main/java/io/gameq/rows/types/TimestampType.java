package io.gameq.rows.types;

import io.gameq.rows.types.ColumnTypes.Refusal;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoField;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** TIMESTAMP(digits), canonical as Instant: all gameq connections run in UTC; immutable. */
record TimestampType(int digits) implements ColumnType {
  private static final long MIN_SECOND = 1;
  private static final long MAX_SECOND = Integer.MAX_VALUE;

  @Override
  public Kind kind() {
    return Kind.TIMESTAMP;
  }

  @Override
  public Object canonical(Object in, String column) {
    if (!(in instanceof Instant time)) {
      throw Refusal.kind(column, in, "Instant (LocalDateTime goes with DATETIME)");
    }
    if (time.getEpochSecond() < MIN_SECOND || time.getEpochSecond() > MAX_SECOND) {
      throw Refusal.range(column, "1970-01-01T00:00:01Z to 2038-01-19T03:14:07.999999Z", in);
    }
    return Instant.ofEpochSecond(time.getEpochSecond(), Micros.truncate(time.getNano(), digits));
  }

  @Override
  public Object canonicalExactly(Object in, String column) {
    if (in instanceof Instant time) {
      Micros.checkFraction(time.get(ChronoField.NANO_OF_SECOND), digits, column);
    }
    return canonical(in, column);
  }

  @Override
  public void pack(MessagePacker out, Object canonical) throws IOException {
    Instant time = (Instant) canonical;
    out.packLong(Micros.of(time.getEpochSecond(), time.getNano()));
  }

  @Override
  public Object unpack(MessageUnpacker in) throws IOException {
    long micros = in.unpackLong();
    return Instant.ofEpochSecond(Micros.seconds(micros), Micros.nanos(micros));
  }

  @Override
  public String keyText(Object canonical, String column) {
    return canonical.toString();
  }

  @Override
  public Object ofKeyText(String text) {
    return Instant.parse(text);
  }
}

package io.gameq.rows.types;

import java.io.IOException;
import java.time.LocalDate;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** DATE, canonical as LocalDate; immutable. */
record DateType() implements ColumnType {
  @Override
  public Kind kind() {
    return Kind.DATE;
  }

  @Override
  public Object canonical(Object in, String column) {
    if (!(in instanceof LocalDate date)) {
      throw Refusal.kind(column, in, "LocalDate");
    }
    if (date.getYear() < 1 || date.getYear() > 9999) {
      throw Refusal.range(column, "0001-01-01 to 9999-12-31", in);
    }
    return date;
  }

  @Override
  public void pack(MessagePacker out, Object canonical) throws IOException {
    out.packLong(((LocalDate) canonical).toEpochDay());
  }

  @Override
  public Object unpack(MessageUnpacker in) throws IOException {
    return LocalDate.ofEpochDay(in.unpackLong());
  }

  @Override
  public String keyText(Object canonical, String column) {
    return canonical.toString();
  }

  @Override
  public Object ofKeyText(String text) {
    return LocalDate.parse(text);
  }
}

package io.gameq.rows.types;

import java.io.IOException;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** A type whose canonical value is a String, which is its key text too. */
sealed interface StringType extends ColumnType permits TextType, JsonType, EnumType, SetType {
  /**
   * The text that is put, or the name of the Java constant that is.
   *
   * @throws io.gameq.RowRefusedException when it is something else
   */
  static String text(Object in, String column) {
    if (in instanceof String text) {
      return text;
    }
    if (in instanceof Enum<?> constant) {
      return constant.name();
    }
    throw Refusal.kind(column, in, "String and enum constants");
  }

  @Override
  default void pack(MessagePacker out, Object canonical) throws IOException {
    out.packString((String) canonical);
  }

  @Override
  default Object unpack(MessageUnpacker in) throws IOException {
    return in.unpackString();
  }

  @Override
  default String keyText(Object canonical, String column) {
    return (String) canonical;
  }

  @Override
  default Object ofKeyText(String text) {
    return text;
  }
}

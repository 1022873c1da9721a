package io.gameq.catalog;

import java.io.IOException;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** A type whose canonical value is a String, which is its key text too. */
sealed interface StringType extends ColumnType permits TextType, JsonType, EnumType, SetType {
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

package io.gameq.catalog;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** MySQL's JSON, canonical as the text that MySQL prints; immutable. */
record JsonType() implements ColumnType {
  @Override
  public Kind kind() {
    return Kind.JSON;
  }

  @Override
  public Object canonical(Object in, String column) {
    if (!(in instanceof String text)) {
      throw Refusal.kind(column, in, "String");
    }
    return JsonText.canonical(text, column);
  }

  @Override
  public void pack(MessagePacker out, Object canonical) throws IOException {
    out.packString((String) canonical);
  }

  @Override
  public Object unpack(MessageUnpacker in) throws IOException {
    return in.unpackString();
  }

  @Override
  public String keyText(Object canonical, String column) {
    throw new UnsupportedOperationException(keyProblem());
  }

  @Override
  public Object ofKeyText(String text) {
    throw new UnsupportedOperationException(keyProblem());
  }

  @Override
  public @Nullable String keyProblem() {
    return "a JSON key column";
  }
}

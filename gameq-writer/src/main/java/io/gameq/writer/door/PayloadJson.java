package io.gameq.writer.door;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import java.io.IOException;
import java.io.StringWriter;

/** Any JSON as its text: a tree of it takes up to a hundred times its bytes. Stateless. */
final class PayloadJson extends StdDeserializer<String> {
  private static final long serialVersionUID = 1L;

  PayloadJson() {
    super(String.class);
  }

  @Override
  public String deserialize(JsonParser from, DeserializationContext context) throws IOException {
    StringWriter text = new StringWriter();
    try (JsonGenerator to = from.getCodec().getFactory().createGenerator(text)) {
      to.copyCurrentStructure(from);
    }
    return text.toString();
  }
}

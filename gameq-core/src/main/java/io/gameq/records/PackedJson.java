package io.gameq.records;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.ExtensionTypeHeader;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;
import org.msgpack.value.ValueType;

/** A value that was packed as MessagePack, as JSON and back. Stateless. */
public final class PackedJson {
  /** Records within records: what is deeper came from nobody's record. */
  private static final int DEEPEST = 64;

  private static final JsonFactory JSON = new JsonFactory();

  private PackedJson() {}

  /** Whether the bytes begin as the map does that a record is packed as. */
  public static boolean isRecord(byte[] packed) {
    return packed.length > 0 && MessageFormat.valueOf(packed[0]).getValueType() == ValueType.MAP;
  }

  /** A value as JSON, on one line; null when the bytes are not one value and nothing else. */
  public static @Nullable String text(byte[] packed) {
    StringWriter text = new StringWriter();
    try (MessageUnpacker from = MessagePack.newDefaultUnpacker(packed);
        JsonGenerator to = JSON.createGenerator(text)) {
      write(from, to, packed.length, 0);
      if (from.hasNext()) {
        return null;
      }
    } catch (IOException | MessagePackException e) {
      return null;
    }
    return text.toString();
  }

  private static void write(MessageUnpacker from, JsonGenerator to, int most, int depth)
      throws IOException {
    if (depth > DEEPEST) {
      throw new IOException("too deep");
    }
    switch (from.getNextFormat().getValueType()) {
      case MAP -> {
        to.writeStartObject();
        for (int left = from.unpackMapHeader(); left > 0; left--) {
          to.writeFieldName(from.unpackString());
          write(from, to, most, depth + 1);
        }
        to.writeEndObject();
      }
      case ARRAY -> {
        to.writeStartArray();
        for (int left = from.unpackArrayHeader(); left > 0; left--) {
          write(from, to, most, depth + 1);
        }
        to.writeEndArray();
      }
      case NIL -> {
        from.unpackNil();
        to.writeNull();
      }
      case BOOLEAN -> to.writeBoolean(from.unpackBoolean());
      case INTEGER -> to.writeNumber(from.unpackBigInteger());
      case FLOAT -> to.writeNumber(from.unpackDouble());
      case STRING -> to.writeString(from.unpackString());
      case BINARY -> to.writeString(hex(from, from.unpackBinaryHeader(), most));
      case EXTENSION -> {
        ExtensionTypeHeader header = from.unpackExtensionTypeHeader();
        to.writeString(
            header.isTimestampType()
                ? from.unpackTimestamp(header).toString()
                : hex(from, header.getLength(), most));
      }
    }
  }

  /** What claims to be longer than the whole payload gets no memory. */
  private static String hex(MessageUnpacker from, int length, int most) throws IOException {
    if (length > most) {
      throw new IOException("too long");
    }
    return "0x" + HexFormat.of().formatHex(from.readPayload(length));
  }

  /** JSON as a packed value; null when it is not one value and nothing else. */
  public static byte @Nullable [] pack(String json) {
    try (JsonParser from = JSON.createParser(json);
        MessageBufferPacker to = MessagePack.newDefaultBufferPacker()) {
      from.nextToken();
      Value value = value(from, 0);
      if (from.nextToken() != null) {
        return null;
      }
      to.packValue(value);
      return to.toByteArray();
    } catch (IOException | MessagePackException | IllegalArgumentException e) {
      return null; // the exception's message may quote the text
    }
  }

  private static Value value(JsonParser from, int depth) throws IOException {
    if (depth > DEEPEST) {
      throw new IOException("too deep");
    }
    JsonToken token = from.currentToken();
    if (token == null) {
      throw new IOException("no value");
    }
    return switch (token) {
      case START_OBJECT -> {
        List<Value> members = new ArrayList<>();
        while (from.nextToken() == JsonToken.FIELD_NAME) {
          members.add(ValueFactory.newString(from.currentName()));
          from.nextToken();
          members.add(value(from, depth + 1));
        }
        yield ValueFactory.newMap(members.toArray(Value[]::new));
      }
      case START_ARRAY -> {
        List<Value> members = new ArrayList<>();
        while (from.nextToken() != JsonToken.END_ARRAY) {
          members.add(value(from, depth + 1));
        }
        yield ValueFactory.newArray(members);
      }
      case VALUE_TRUE -> ValueFactory.newBoolean(true);
      case VALUE_FALSE -> ValueFactory.newBoolean(false);
      case VALUE_NULL -> ValueFactory.newNil();
      case VALUE_NUMBER_INT -> ValueFactory.newInteger(from.getBigIntegerValue());
      case VALUE_NUMBER_FLOAT -> ValueFactory.newFloat(from.getDoubleValue());
      case VALUE_STRING -> ValueFactory.newString(from.getText());
      default -> throw new IOException("no value");
    };
  }
}

package io.gameq.rows;

import io.gameq.records.PackedJson;
import io.gameq.records.PackedValue;
import io.gameq.rows.types.Refusal;
import java.io.IOException;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;

/** A record, a list or a map as JSON, in a JSON or text column. Immutable. */
record JsonConversion(PackedValue packed, String column) implements Conversion {
  @Override
  public Object toColumn(Object component) {
    String json = null;
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packed.pack(packer, component);
      json = PackedJson.text(packer.toByteArray());
    } catch (IOException | NullPointerException | ClassCastException e) {
      // reported below: the exception may quote values
    }
    if (json == null) {
      throw Refusal.of(
          column,
          "cannot be made JSON: lists and maps hold no null, and what they are declared to hold");
    }
    return json;
  }

  @Override
  public Object fromColumn(Object canonical) {
    byte[] bytes = PackedJson.pack((String) canonical);
    if (bytes == null) {
      throw new IllegalArgumentException("JSON that is too deep");
    }
    try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(bytes)) {
      return packed.read(unpacker);
    } catch (IOException | MessagePackException e) {
      throw new IllegalArgumentException("JSON of another form");
    }
  }
}

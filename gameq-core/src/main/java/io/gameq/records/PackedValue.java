package io.gameq.records;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** How values of one type are packed into a payload. Immutable. */
public interface PackedValue {
  /** Writes a value that is not null. */
  void pack(MessagePacker packer, Object value) throws IOException;

  /** Reads a value that is not nil. */
  Object read(MessageUnpacker unpacker) throws IOException;

  /** Reads a value; null for nil. */
  default @Nullable Object unpack(MessageUnpacker unpacker) throws IOException {
    return unpacker.tryUnpackNil() ? null : read(unpacker);
  }
}

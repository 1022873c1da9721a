package io.gameq.topic;

import io.gameq.GameQueueException;
import io.gameq.records.RecordValue;
import java.io.IOException;
import java.util.function.Function;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;

/**
 * Turns what the game publishes into bytes and back. Thread-safe.
 *
 * @param encode throws GameQueueException when a payload holds what cannot be encoded
 * @param decode throws GameQueueException when the bytes are not those of such a payload
 */
record Payloads<T>(Function<T, byte[]> encode, Function<byte[], T> decode) {
  /** Bytes as they are: neither copied by a publish nor by a delivery. */
  static final Payloads<byte[]> BYTES = new Payloads<>(bytes -> bytes, bytes -> bytes);

  /**
   * Records as MessagePack maps, by the names of their components. Throws GameQueueException when a
   * component has a type that cannot be encoded.
   */
  static <T extends Record> Payloads<T> ofRecord(Class<T> type) {
    RecordValue codec = RecordValue.of(type);
    return new Payloads<>(of -> encode(codec, type, of), bytes -> decode(codec, type, bytes));
  }

  private static byte[] encode(RecordValue codec, Class<?> type, Record payload) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      codec.pack(packer, payload);
      return packer.toByteArray();
    } catch (IOException | NullPointerException | ClassCastException e) {
      throw new GameQueueException(
          ("cannot encode a payload of %s: lists and maps hold no null, and what they are"
                  + " declared to")
              .formatted(type.getName()),
          e);
    }
  }

  private static <T> T decode(RecordValue codec, Class<T> type, byte[] bytes) {
    try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(bytes)) {
      Object read = codec.unpack(unpacker);
      if (read == null) {
        throw new GameQueueException("a payload is nothing, not a " + type.getName());
      }
      return type.cast(read);
    } catch (IOException | MessagePackException | ArithmeticException e) {
      throw new GameQueueException("a payload is not that of a " + type.getName(), e);
    }
  }
}

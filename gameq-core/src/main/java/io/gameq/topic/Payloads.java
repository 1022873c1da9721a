package io.gameq.topic;

import io.gameq.GameQueueException;
import io.gameq.records.RecordValue;
import java.io.IOException;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;

/** Turns what the game publishes into bytes and back. Thread-safe. */
interface Payloads<T> {
  /** Bytes as they are: neither copied by a publish nor by a delivery. */
  Payloads<byte[]> BYTES =
      new Payloads<>() {
        @Override
        public byte[] encode(byte[] payload) {
          return payload;
        }

        @Override
        public byte[] decode(byte[] bytes) {
          return bytes;
        }
      };

  /** Throws GameQueueException when it holds what cannot be encoded. */
  byte[] encode(T payload);

  /** Throws GameQueueException when the bytes are not those of such a payload. */
  T decode(byte[] bytes);

  /** Records as MessagePack maps, by the names of their components. */
  final class OfRecord<T extends Record> implements Payloads<T> {
    private final Class<T> type;
    private final RecordValue codec;

    /** Throws GameQueueException when a component has a type that cannot be encoded. */
    OfRecord(Class<T> type) {
      this.type = type;
      this.codec = RecordValue.of(type);
    }

    @Override
    public byte[] encode(T payload) {
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

    @Override
    public T decode(byte[] bytes) {
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
}

package io.gameq.topic;

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
}

package io.gameq.rows.types;

import java.nio.ByteBuffer;
import java.util.UUID;

/** A UUID in a column of 16 bytes, in the order of its text, as UUID_TO_BIN gives it. Stateless. */
public final class UuidBytes {
  static final int LENGTH = 16;

  private UuidBytes() {}

  static byte[] of(UUID uuid) {
    return ByteBuffer.allocate(LENGTH)
        .putLong(uuid.getMostSignificantBits())
        .putLong(uuid.getLeastSignificantBits())
        .array();
  }

  /** Throws IllegalArgumentException when these are not 16 bytes. */
  public static UUID uuid(byte[] bytes) {
    if (bytes.length != LENGTH) {
      throw new IllegalArgumentException("%s bytes are no UUID".formatted(bytes.length));
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return new UUID(buffer.getLong(), buffer.getLong());
  }
}

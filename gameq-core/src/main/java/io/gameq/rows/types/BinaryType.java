package io.gameq.rows.types;

import io.gameq.rows.types.ColumnTypes.Refusal;
import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;

/** BINARY, VARBINARY and the BLOB family, canonical as byte[]; immutable. */
record BinaryType(Form form, long limit) implements ColumnType {
  private static final HexFormat HEX = HexFormat.of();

  enum Form {
    /** Padded with zero bytes to the limit, as it comes back. */
    BINARY,
    VARBINARY,
    BLOB
  }

  @Override
  public Kind kind() {
    return Kind.BINARY;
  }

  /** A copy: the game may go on changing its array. */
  @Override
  public Object canonical(Object in, String column) {
    if (in instanceof UUID uuid && limit == UuidBytes.LENGTH) {
      return UuidBytes.of(uuid);
    }
    if (!(in instanceof byte[] bytes)) {
      throw Refusal.kind(column, in, limit == UuidBytes.LENGTH ? "byte[] and UUID" : "byte[]");
    }
    if (bytes.length > limit) {
      throw Refusal.of(
          column, "byte[] of %s bytes, the limit is %s".formatted(bytes.length, limit));
    }
    return form == Form.BINARY ? Arrays.copyOf(bytes, (int) limit) : bytes.clone();
  }

  @Override
  public void pack(MessagePacker out, Object canonical) throws IOException {
    byte[] bytes = (byte[]) canonical;
    out.packBinaryHeader(bytes.length);
    out.writePayload(bytes);
  }

  @Override
  public Object unpack(MessageUnpacker in) throws IOException {
    return in.readPayload(in.unpackBinaryHeader());
  }

  @Override
  public String keyText(Object canonical, String column) {
    return HEX.formatHex((byte[]) canonical);
  }

  @Override
  public Object ofKeyText(String text) {
    return HEX.parseHex(text);
  }

  @Override
  public @Nullable String keyProblem() {
    return form == Form.BLOB
        ? "a BLOB key column: MySQL indexes only a prefix of it, use VARBINARY"
        : null;
  }

  @Override
  public int minKeyBytes() {
    return form == Form.BINARY ? maxKeyBytes() : 0;
  }

  @Override
  public int maxKeyBytes() {
    return (int) Math.min(limit * 2, Integer.MAX_VALUE);
  }
}

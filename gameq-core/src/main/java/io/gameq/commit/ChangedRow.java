package io.gameq.commit;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.catalog.RowCodec;
import io.gameq.catalog.RowOp;

/**
 * One changed row of a commit: its key and its encoded image, into which the sender writes the
 * version.
 *
 * @param key {@code table:key parts}, ASCII
 * @param image see {@link RowCodec}
 */
public record ChangedRow(String key, byte[] image) {
  public byte[] keyBytes() {
    return key.getBytes(US_ASCII);
  }

  public RowOp op() {
    return RowCodec.op(image);
  }

  public long version() {
    return RowCodec.version(image);
  }

  int bytes() {
    return key.length() + image.length;
  }
}

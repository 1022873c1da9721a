package io.gameq.commit;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.catalog.RowCodec;
import io.gameq.catalog.RowOp;

/**
 * One changed row of a commit: its key and its encoded image, into which the sender writes the
 * version.
 *
 * @param key {@code table:key parts}, ASCII
 * @param movedIn whether another session of the same commit must move the row away
 * @param image see {@link RowCodec}
 */
public record ChangedRow(String key, byte[] image, boolean movedIn) {
  public ChangedRow(String key, byte[] image) {
    this(key, image, false);
  }

  /** The same row as the receiving half of a move. */
  public ChangedRow asMovedIn() {
    return new ChangedRow(key, image, true);
  }

  public byte[] keyBytes() {
    return key.getBytes(US_ASCII);
  }

  public RowOp op() {
    return RowCodec.op(image);
  }

  public long version() {
    return RowCodec.version(image);
  }

  /** Of the key and the image. */
  public int bytes() {
    return key.length() + image.length;
  }
}

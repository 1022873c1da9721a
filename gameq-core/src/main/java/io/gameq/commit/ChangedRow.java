package io.gameq.commit;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.catalog.RowCodec;
import io.gameq.catalog.RowOp;

/**
 * One changed row of a commit: its key and its encoded image, into which the sender writes the
 * version. Key and image are encoded once, by the game's thread, for WAL and Redis.
 */
public final class ChangedRow {
  private final String key;
  private final byte[] keyBytes;
  private final byte[] image;
  private final boolean movedIn;

  /**
   * A row.
   *
   * @param key {@code table:key parts}, ASCII
   * @param image see {@link RowCodec}
   */
  public ChangedRow(String key, byte[] image) {
    this(key, key.getBytes(US_ASCII), image, false);
  }

  private ChangedRow(String key, byte[] keyBytes, byte[] image, boolean movedIn) {
    this.key = key;
    this.keyBytes = keyBytes;
    this.image = image;
    this.movedIn = movedIn;
  }

  /** The same row as the receiving half of a move. */
  public ChangedRow asMovedIn() {
    return new ChangedRow(key, keyBytes, image, true);
  }

  public String key() {
    return key;
  }

  /** The key's bytes; not to be changed. */
  public byte[] keyBytes() {
    return keyBytes;
  }

  public byte[] image() {
    return image;
  }

  /** Whether another session of the same commit must move the row away. */
  public boolean movedIn() {
    return movedIn;
  }

  public RowOp op() {
    return RowCodec.op(image);
  }

  public long version() {
    return RowCodec.version(image);
  }

  /** Of the key and the image. */
  public int bytes() {
    return keyBytes.length + image.length;
  }
}

package io.gameq.change;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.rows.RowCodec;
import io.gameq.rows.RowOp;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
   * Whose version the sender writes into the handover of the same index; null for one that has it.
   */
  private final List<@Nullable Trade> trades;

  /**
   * A row.
   *
   * @param key {@code table:key parts}, ASCII
   * @param image see {@link RowCodec}
   */
  public ChangedRow(String key, byte[] image) {
    this(key, key.getBytes(US_ASCII), image, false, List.of());
  }

  private ChangedRow(
      String key, byte[] keyBytes, byte[] image, boolean movedIn, List<@Nullable Trade> trades) {
    this.key = key;
    this.keyBytes = keyBytes;
    this.image = image;
    this.movedIn = movedIn;
    this.trades = trades;
  }

  /** The same row as the receiving half of a move. */
  public ChangedRow asMovedIn() {
    return new ChangedRow(key, keyBytes, image, true, trades);
  }

  /**
   * The same row with another image, which tells of handovers.
   *
   * @param versions one for each handover of the image: the trade whose version it is, or null
   */
  public ChangedRow as(byte[] otherImage, List<@Nullable Trade> versions) {
    return new ChangedRow(
        key, keyBytes, otherImage, movedIn, Collections.unmodifiableList(versions));
  }

  /** Writes the version into the image, and those of the trades that it tells of. */
  void setVersion(long version) {
    RowCodec.setVersion(image, version);
    for (int i = 0; i < trades.size(); i++) {
      Trade trade = trades.get(i);
      if (trade != null) {
        RowCodec.setHandoverVersion(image, i, trade.version());
      }
    }
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

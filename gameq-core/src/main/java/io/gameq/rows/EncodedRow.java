package io.gameq.rows;

/**
 * A row change on its way from the game to MySQL, as the WAL and Redis hold it: the row's key and
 * its encoded image.
 *
 * @param key {@code table:key parts}, ASCII
 * @param image see {@link RowCodec}; not to be changed by who did not encode it
 */
public record EncodedRow(String key, byte[] image) {
  public RowOp op() {
    return RowHeader.op(image);
  }

  /** The commit's version; zero as long as none was written into the image. */
  public long version() {
    return RowHeader.version(image);
  }
}

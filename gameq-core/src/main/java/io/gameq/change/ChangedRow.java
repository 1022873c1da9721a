package io.gameq.change;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.rows.EncodedRow;
import io.gameq.rows.RowHeader;
import io.gameq.rows.RowHeader.RowOp;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An {@link EncodedRow} in the commit that changes it, with what only this commit needs to know:
 * its version is written into the image when the commit is sent. Key and image are encoded once, by
 * the game's thread, for WAL and Redis. Written to as {@link Commit} says.
 *
 * @param keyBytes the key's bytes; not to be changed
 * @param movedIn whether another session of the same commit must move the row away
 * @param moves whose version the sender writes into the handover of the same index; null for one
 *     that has it
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares them
public record ChangedRow(
    String key, byte[] keyBytes, byte[] image, boolean movedIn, List<@Nullable RowMove> moves) {
  public ChangedRow(String key, byte[] image) {
    this(key, key.getBytes(US_ASCII), image, false, List.of());
  }

  public ChangedRow(EncodedRow row) {
    this(row.key(), row.image());
  }

  /** The same row as the receiving half of a move. */
  public ChangedRow asMovedIn() {
    return new ChangedRow(key, keyBytes, image, true, moves);
  }

  /**
   * The same row with another image, which tells of handovers.
   *
   * @param versions one for each handover of the image: the move whose version it is, or null
   */
  public ChangedRow as(byte[] otherImage, List<@Nullable RowMove> versions) {
    return new ChangedRow(
        key, keyBytes, otherImage, movedIn, Collections.unmodifiableList(versions));
  }

  /** Writes the version into the image, and those of the moves that it tells of. */
  void setVersion(long version) {
    RowHeader.setVersion(image, version);
    for (int i = 0; i < moves.size(); i++) {
      RowMove move = moves.get(i);
      if (move != null) {
        RowHeader.setHandoverVersion(image, i, move.version());
      }
    }
  }

  /** The row as WAL and Redis will hold it. */
  public EncodedRow encoded() {
    return new EncodedRow(key, image);
  }

  /** Of the key and the image. */
  public int bytes() {
    return keyBytes.length + image.length;
  }

  public RowOp op() {
    return RowHeader.op(image);
  }

  /**
   * A commit that moved rows, as later changes of these rows refer to it. Thread-safe.
   *
   * <p>A row that was received tells of that in every later image, in the version of the commit,
   * which the sender gives it; what Redis refused says nothing.
   */
  public static final class RowMove {
    private volatile long version;
    private volatile boolean failed;

    void setVersion(long version) {
      this.version = version;
    }

    /** The commit did not take place, as far as is known. */
    public void fail() {
      failed = true;
    }

    public boolean hasFailed() {
      return failed;
    }

    /** Of the moved rows on both sides; 0 before the commit was journaled, and when it failed. */
    public long version() {
      return failed ? 0 : version;
    }
  }
}

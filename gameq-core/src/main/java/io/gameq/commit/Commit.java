package io.gameq.commit;

import io.gameq.catalog.RowCodec;
import io.gameq.catalog.RowOp;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An atomic set of row changes on its way to Redis. Built by a game thread; from {@code submit} on
 * only the sender's thread writes to it, and others read after {@code settled} was called.
 */
public abstract class Commit {
  private final List<CommitPart> parts;
  private final int bytes;
  private volatile long sequence;
  private long version;
  private boolean sentAgain;

  protected Commit(List<CommitPart> parts) {
    this.parts = List.copyOf(parts);
    int sum = 0;
    for (CommitPart part : parts) {
      for (ChangedRow row : part.rows()) {
        sum += row.bytes();
      }
    }
    this.bytes = sum;
  }

  /** The WAL holds the commit: it survives this process. Called by the sender's thread. */
  public void journaled() {}

  /**
   * Redis holds the commit: notes that. Called by the sender, so it must be quick; returns whether
   * anybody asked to be told, by {@link #queued}.
   */
  public boolean arrived() {
    return true;
  }

  /** Tells those who asked that Redis holds the commit. Called on the callbacks' thread. */
  public abstract void queued();

  /** Redis does not hold the commit, or nobody knows (see the exception's type). */
  public abstract void failed(RuntimeException reason);

  public List<CommitPart> parts() {
    return parts;
  }

  /** One of its sessions that no longer owns; null when all do, as far as is known. */
  public @Nullable SessionRef lostSession() {
    for (CommitPart part : parts) {
      if (part.session().isLost()) {
        return part.session();
      }
    }
    return null;
  }

  public boolean isSpanning() {
    return parts.size() > 1;
  }

  /** Keys and images, in bytes. */
  public int bytes() {
    return bytes;
  }

  /** Sequence of this commit's WAL record; 0 before it was appended. Read by any thread. */
  public long sequence() {
    return sequence;
  }

  public void setSequence(long sequence) {
    this.sequence = sequence;
  }

  /**
   * Whether its first answer was lost: then it may reach Redis after commits with higher versions.
   */
  public boolean isSentAgain() {
    return sentAgain;
  }

  public void setSentAgain() {
    sentAgain = true;
  }

  /** The highest version in this commit. */
  public long version() {
    return version;
  }

  /** The version of a row of this commit: rows left behind by a move have the lower one. */
  public long versionOf(ChangedRow row) {
    return isSpanning() && row.op() == RowOp.MOVED ? version - 1 : version;
  }

  /**
   * Whether any row moves to another owner; then the commit takes two versions, the lower for the
   * rows left behind.
   */
  public boolean hasMoves() {
    return isSpanning()
        && parts.stream().anyMatch(p -> p.rows().stream().anyMatch(r -> r.op() == RowOp.MOVED));
  }

  /** Writes versions into all rows: {@code version}, and the one below it for rows moved away. */
  public void setVersion(long version) {
    this.version = version;
    for (CommitPart part : parts) {
      for (ChangedRow row : part.rows()) {
        RowCodec.setVersion(row.image(), versionOf(row));
      }
    }
  }
}

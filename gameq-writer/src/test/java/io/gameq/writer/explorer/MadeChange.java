package io.gameq.writer.explorer;

/**
 * A changed row as the game remembers it.
 *
 * @param commit which commit of its node it belongs to
 * @param count the content; another one in every commit
 */
record MadeChange(
    String node,
    int commit,
    String owner,
    int row,
    Kind kind,
    int toPlayer,
    int count,
    long version,
    Status status) {
  /** What the change does to its row. */
  enum Kind {
    PUT,
    DELETE,
    MOVED
  }

  /** What the game was told. */
  enum Status {
    /** No answer yet. */
    SENT,
    ACKNOWLEDGED,
    /** Refused: nothing of it may ever be seen. */
    REFUSED,
    /** Reported as unknown. */
    UNKNOWN
  }

  MadeChange with(Status now) {
    return new MadeChange(node, commit, owner, row, kind, toPlayer, count, version, now);
  }

  boolean isAcknowledged() {
    return status == Status.ACKNOWLEDGED;
  }

  /** Of an owner's view of the row: it is gone. */
  boolean hides() {
    return kind != Kind.PUT;
  }

  @Override
  public String toString() {
    return "%s %s%s of %s v%x.%d %s"
        .formatted(node, kind, row, owner, version >>> 16, version & 0xffff, status);
  }
}

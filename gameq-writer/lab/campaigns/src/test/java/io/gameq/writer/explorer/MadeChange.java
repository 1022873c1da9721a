package io.gameq.writer.explorer;

import io.gameq.owner.OwnerId;

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
    MOVED,
    /** Sent to an owner whoever has it; the change is that of an inbox. */
    SENT
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

  /** Whether the row is written for an owner: by a session of it, or sent to it. */
  boolean isFor(OwnerId of) {
    return baseOwner().equals(of.encoded());
  }

  /** The encoded owner: of what was sent, to whom. */
  String baseOwner() {
    return OwnerId.ofEncoded(owner).base().encoded();
  }

  /** Of an owner's view of the row: it is gone. */
  boolean hides() {
    return kind == Kind.DELETE || kind == Kind.MOVED;
  }

  @Override
  public String toString() {
    return "%s %s%s of %s v%x.%d %s"
        .formatted(node, kind, row, owner, version >>> 16, version & 0xffff, status);
  }
}

package io.gameq.writer.campaign.messages;

import org.jspecify.annotations.Nullable;

/** One run of a handler on a message, as its node saw it. Used by one thread. */
final class Handled {
  final String take;
  final String id;
  final String lane;
  final String process;
  final long startedAt;

  /** Rises with each take of a lane. */
  final long fence;

  final int attempt;
  final long dueMillis;

  /** The message was asked for at that time or later; 0 when that is not known. */
  final long askedAt;

  /** The lease ends then or later; 0 when it had ended before the handler began. */
  long leaseEnd;

  /** When it returned; never, as far as its node noted. */
  long doneAt = Long.MAX_VALUE;

  /** When it threw, likewise. */
  long threwAt = Long.MAX_VALUE;

  /** The commit of rows with which it was acknowledged. */
  @Nullable String rows;

  /** Of a line of {@link MessageNotes}. */
  Handled(String[] line) {
    this.startedAt = Long.parseLong(line[1]);
    this.take = line[2];
    this.id = line[3];
    this.lane = line[4];
    this.fence = Long.parseLong(line[5]);
    this.attempt = Integer.parseInt(line[6]);
    this.dueMillis = Long.parseLong(line[7]);
    this.askedAt = Long.parseLong(line[8]);
    this.leaseEnd = Long.parseLong(line[9]);
    this.process = line[10];
  }

  boolean isDone() {
    return doneAt != Long.MAX_VALUE;
  }

  boolean threw() {
    return threwAt != Long.MAX_VALUE;
  }

  /** Until when nobody else may have its lane. */
  long exclusiveUntil() {
    return Math.min(Math.min(doneAt, threwAt), leaseEnd);
  }

  @Override
  public String toString() {
    return "%s by %s, attempt %d".formatted(id, take, attempt);
  }
}

package io.gameq.message;

import static java.nio.charset.StandardCharsets.US_ASCII;

import org.jspecify.annotations.Nullable;

/**
 * What a commit does to one message. Built by a game thread or a subscription; the sender writes
 * the commit's version into the value of a {@link Publish}, nothing else changes.
 */
public sealed interface MessageChange {
  /** Which message. */
  MessageId id();

  /** The slot of the namespace that it lies in. */
  int slot();

  /** About what it takes in WAL and Redis, in bytes. */
  default int bytes() {
    return id().topic().length() + id().id().length() + 32;
  }

  /** Writes the commit's version; only a publish carries one. */
  default void setVersion(long version) {}

  /** The id's bytes. */
  default byte[] idBytes() {
    return id().id().getBytes(US_ASCII);
  }

  /**
   * Publishes, over a pending message of the same id.
   *
   * @param slot as {@link MessageChange#slot}
   * @param dueMillis Redis time in ms
   * @param keepsTime whether an earlier due time of the pending message stays (a merge window);
   *     else this one counts
   * @param capMillis the longest time from the first publish of the pending message until it is
   *     due, ms; 0 for no limit
   * @param value see {@link MessageValue}; its version is written by the sender
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares them
  record Publish(
      MessageId id, int slot, long dueMillis, boolean keepsTime, long capMillis, byte[] value)
      implements MessageChange {
    @Override
    public int bytes() {
      return MessageChange.super.bytes() + value.length;
    }

    @Override
    public void setVersion(long version) {
      MessageValue.setVersion(value, version);
    }
  }

  /** Gives a pending message another due time; nothing when none is pending. */
  record Retime(MessageId id, int slot, long dueMillis) implements MessageChange {}

  /** Deletes a pending message; what is being handled is finished. */
  record Delete(MessageId id, int slot) implements MessageChange {}

  /**
   * Ends the handling of a message that was taken; refused, with all of its commit, when the token
   * is not that of the claim any more.
   *
   * @param handledVersion the version of the value that was handled
   * @param token of the claim
   * @param nextDueMillis when a recurring message is due again, Redis time in ms; 0 for never
   * @param occurrenceMillis which occurrence of a recurring message was handled, Redis time in ms;
   *     else 0
   * @param again what publishes the message again where the rows of its handler do not count after
   *     all; null of a recurring one, of one that was handled without rows, and out of a WAL
   */
  record Ack(
      MessageId id,
      int slot,
      long handledVersion,
      String token,
      long nextDueMillis,
      long occurrenceMillis,
      @Nullable Publish again)
      implements MessageChange {
    /**
     * Of one that does not recur, or whose commit has no rows: which occurrence does not matter.
     */
    public Ack(MessageId id, int slot, long handledVersion, String token, long nextDueMillis) {
      this(id, slot, handledVersion, token, nextDueMillis, 0, null);
    }
  }

  /**
   * Changes nothing: refuses its commit with a {@link MessageChangedException} unless the pending
   * message has this version. For the live commit alone: a replay does not look at it.
   *
   * @param version that the pending message must have; 0 for none pending
   */
  record Expect(MessageId id, int slot, long version) implements MessageChange {}
}

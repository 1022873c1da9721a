package io.gameq.message;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.GameQueueException;
import io.gameq.owner.OwnerId;
import io.gameq.owner.OwnerId.PercentEncoding;
import io.gameq.rows.RowHeader;
import java.nio.ByteBuffer;
import java.util.regex.Pattern;
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

  /**
   * Which message of a topic: its key, and the group that it belongs to, if any. Immutable.
   *
   * <p>Keys and groups are untrusted: in Redis both stand percent-encoded, as owner ids do, so that
   * the colon between them is the only one.
   *
   * @param topic a name as {@link #checkTopic} takes it
   * @param id {@code key} or {@code group:key}, both encoded
   */
  public record MessageId(String topic, String id) {
    /** Longest encoded id, in bytes. */
    public static final int MAX_ENCODED_BYTES = 512;

    private static final Pattern TOPIC = Pattern.compile("[a-z][a-z0-9_-]{0,31}");

    /**
     * The message of a key.
     *
     * @param group of messages that are handled one after another; null for none
     * @throws GameQueueException when key or group is empty, holds a lone surrogate, or both
     *     together take more than {@link #MAX_ENCODED_BYTES} encoded
     */
    public static MessageId of(String topic, @Nullable String group, String key) {
      if (key.isEmpty() || (group != null && group.isEmpty())) {
        throw new GameQueueException(
            "the %s of a message of topic '%s' is empty"
                .formatted(key.isEmpty() ? "key" : "group", topic));
      }
      String encoded = PercentEncoding.percent(key);
      String id = group == null ? encoded : PercentEncoding.percent(group) + ":" + encoded;
      if (id.length() > MAX_ENCODED_BYTES) {
        throw new GameQueueException(
            "key and group of a message of topic '%s' take %s bytes encoded, the limit is %s"
                .formatted(topic, id.length(), MAX_ENCODED_BYTES));
      }
      return new MessageId(topic, id);
    }

    /**
     * Checks the name of a topic.
     *
     * @throws GameQueueException when it is not a lower-case letter and up to 31 of a-z 0-9 _ -
     */
    public static void checkTopic(String topic) {
      if (!TOPIC.matcher(topic).matches()) {
        throw new GameQueueException(
            "the name of a topic is a lower-case letter, then up to 31 of a-z 0-9 _ -; this one has"
                + " %s characters".formatted(topic.length()));
      }
    }

    /** The key as the game wrote it. */
    public String key() {
      return PercentEncoding.unpercent(id.substring(id.indexOf(':') + 1));
    }

    /** The group as the game wrote it; null when there is none. */
    public @Nullable String group() {
      int colon = id.indexOf(':');
      return colon < 0 ? null : PercentEncoding.unpercent(id.substring(0, colon));
    }

    /** What is handled one at a time: {@code group:} with its colon, or the id. */
    public String lane() {
      int colon = id.indexOf(':');
      return colon < 0 ? id : id.substring(0, colon + 1);
    }

    /**
     * The slot: CRC-32 of the lane without its colon, masked; that of the owner whose id is the
     * group.
     *
     * @param slots of the topic, a power of two
     */
    public int slot(int slots) {
      int colon = id.indexOf(':');
      return OwnerId.slotOf(colon < 0 ? id : id.substring(0, colon), slots);
    }

    @Override
    public String toString() {
      return topic + "/" + id;
    }
  }

  /**
   * What Redis and the WAL hold of a message, see the package comment. Stateless; an encoded value
   * is changed in place by {@link #setVersion} alone.
   */
  public static final class MessageValue {
    private static final int VERSION_DIGITS = 16;
    private static final int SCHEDULE_AT = VERSION_DIGITS + 8 + 4;

    private MessageValue() {}

    /**
     * A value as it was read.
     *
     * @param version of the commit that published it
     * @param sinceMillis Redis time at which the pending message was first published
     * @param priority higher first
     * @param schedule how it recurs; empty when it does not
     * @param payload not to be changed
     */
    @SuppressWarnings("ArrayRecordComponent") // nobody compares them
    public record Decoded(
        long version, long sinceMillis, int priority, String schedule, byte[] payload) {}

    /**
     * A value of version zero.
     *
     * @throws GameQueueException when the schedule takes more than 1,000 bytes
     */
    public static byte[] encode(long sinceMillis, int priority, String schedule, byte[] payload) {
      byte[] text = schedule.getBytes(UTF_8);
      if (text.length > 1_000) {
        throw new GameQueueException(
            "a schedule takes %s bytes, the limit is 1000".formatted(text.length));
      }
      ByteBuffer value = ByteBuffer.allocate(SCHEDULE_AT + 2 + text.length + payload.length);
      value.put("0".repeat(VERSION_DIGITS).getBytes(US_ASCII));
      value.putDouble((double) sinceMillis).putInt(priority).putShort((short) text.length);
      return value.put(text).put(payload).array();
    }

    /** Writes the version, in place: where and as that of a row. */
    public static void setVersion(byte[] value, long version) {
      RowHeader.setVersion(value, version);
    }

    /** The version of a value. Throws GameQueueException when it is none. */
    public static long version(byte[] value) {
      return RowHeader.version(value);
    }

    /** Reads a value. Throws GameQueueException when it is none. */
    public static Decoded decode(byte[] value) {
      long version = version(value);
      if (value.length < SCHEDULE_AT + 2) {
        throw new GameQueueException("a message's value of only " + value.length + " bytes");
      }
      ByteBuffer from = ByteBuffer.wrap(value, VERSION_DIGITS, value.length - VERSION_DIGITS);
      long since = (long) from.getDouble();
      int priority = from.getInt();
      int text = Short.toUnsignedInt(from.getShort());
      if (text > from.remaining()) {
        throw new GameQueueException("a message's value ends within its schedule");
      }
      byte[] schedule = new byte[text];
      from.get(schedule);
      byte[] payload = new byte[from.remaining()];
      from.get(payload);
      return new Decoded(version, since, priority, new String(schedule, UTF_8), payload);
    }
  }

  /** A pending message was not what a commit expected; nothing of the commit was applied. */
  public static final class MessageChangedException extends GameQueueException {
    private static final long serialVersionUID = 1L;

    public MessageChangedException(String message) {
      super(message);
    }
  }
}

package io.gameq.message;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.gameq.GameQueueException;
import io.gameq.rows.RowHeader;
import java.nio.ByteBuffer;

/**
 * What Redis and the WAL hold of a message, see the package comment. Stateless; an encoded value is
 * changed in place by {@link #setVersion} alone.
 */
public final class MessageValue {
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
    try {
      return Long.parseUnsignedLong(new String(value, 0, VERSION_DIGITS, US_ASCII), 16);
    } catch (IndexOutOfBoundsException | NumberFormatException e) {
      throw new GameQueueException("a message's value without a version", e);
    }
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

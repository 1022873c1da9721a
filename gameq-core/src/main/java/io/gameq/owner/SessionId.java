package io.gameq.owner;

import io.gameq.GameQueueException;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Names one session: the epoch that MySQL gave it, and a nonce of 16 hex digits; immutable.
 *
 * <p>Sessions are compared for equality by both, because a MySQL failover can hand out an epoch
 * twice. The first 8 digits of the nonce are the id of the node's process, so that an ack knows
 * which node to tell.
 *
 * <p>Sessions are numbered from epoch 1 on. Epoch 0 is that of {@linkplain #ofInbox inboxes}.
 */
public record SessionId(long epoch, String nonce) {
  private static final HexFormat HEX = HexFormat.of();
  private static final Pattern TEXT = Pattern.compile("([0-9a-f]{16})-([0-9a-f]{16})");

  /**
   * The session of a node's {@linkplain OwnerId#inbox inboxes}. It is never opened, and nobody can
   * take an inbox over: that node alone writes there, so that it always counts, and what is there
   * may be flushed and replayed whoever has the owner.
   */
  public static SessionId ofInbox(String process) {
    return new SessionId(0, process + "00000000");
  }

  /** Whether it is that of an inbox. */
  public boolean isInbox() {
    return epoch == 0;
  }

  /** Parses the {@link #text} form. */
  public static SessionId parse(String text) {
    Matcher m = TEXT.matcher(text);
    if (!m.matches()) {
      throw new GameQueueException(
          "'" + text + "' is not a session (16 hex digits, '-', 16 hex digits)");
    }
    return new SessionId(Long.parseUnsignedLong(m.group(1), 16), m.group(2));
  }

  /** Epoch and nonce as {@code 16 hex digits-16 hex digits}: sorts by epoch as text. */
  public String text() {
    return HEX.toHexDigits(epoch) + '-' + nonce;
  }

  /**
   * Whether this was opened after the other one, or there is none: of two sessions of one epoch
   * neither is newer.
   */
  public boolean isNewerThan(@Nullable SessionId other) {
    return other == null || Long.compareUnsigned(other.epoch, epoch) < 0;
  }

  @Override
  public String toString() {
    return text();
  }
}

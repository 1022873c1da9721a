package io.gameq.topic;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.gameq.GameQueueException;
import io.gameq.Retry;
import io.gameq.message.MessageChange;
import io.gameq.message.MessageId;
import io.gameq.owner.PercentEncoding;
import io.gameq.redis.topic.TakenMessage;
import java.time.Instant;
import java.util.Base64;
import java.util.regex.Pattern;

/**
 * A claim as text: all that any node needs to end it. Immutable.
 *
 * <pre>
 * base64url of   1 topic id token version attempt next
 * 1        this format
 * id       key, or group:key, percent-encoded
 * token    of the claim in Redis: whoever does not know it can end nothing
 * version  of the value that was taken, hex
 * next     when a recurring message is due again, Redis time in ms; 0 for never
 * </pre>
 */
record ClaimText(MessageId id, String token, long version, int attempt, long nextDueMillis) {
  private static final String FORMAT = "1";
  private static final int WORDS = 7;

  /** Base64 of the longest id and the rest. */
  private static final int MOST_CHARS = 2_000;

  private static final Pattern TOKEN = Pattern.compile("[0-9a-f-]{36}");
  private static final long LAST_MILLIS = Instant.parse("9999-12-31T00:00:00Z").toEpochMilli();

  /** The claim of a message that was taken. */
  static ClaimText of(HeldMessage<?> message) {
    MessageChange.Ack ack = message.ack();
    return new ClaimText(
        ack.id(), ack.token(), ack.handledVersion(), message.attempt(), ack.nextDueMillis());
  }

  String text() {
    String words =
        String.join(
            " ",
            FORMAT,
            id.topic(),
            id.id(),
            token,
            Long.toHexString(version),
            Integer.toString(attempt),
            Long.toString(nextDueMillis));
    return Base64.getUrlEncoder().withoutPadding().encodeToString(words.getBytes(US_ASCII));
  }

  /** Reads one. Throws GameQueueException when it is no claim of this topic. */
  static ClaimText parse(String topic, String text) {
    try {
      if (text.length() <= MOST_CHARS) {
        String[] words =
            new String(Base64.getUrlDecoder().decode(text), US_ASCII).split(" ", WORDS + 1);
        if (words.length == WORDS && words[0].equals(FORMAT) && words[1].equals(topic)) {
          ClaimText read =
              new ClaimText(
                  id(topic, words[2]),
                  words[3],
                  Long.parseUnsignedLong(words[4], 16),
                  Integer.parseInt(words[5]),
                  Long.parseLong(words[6]));
          if (read.isSound()) {
            return read;
          }
        }
      }
    } catch (IllegalArgumentException | GameQueueException e) {
      // the same answer: it came from elsewhere
    }
    throw new GameQueueException("that is no claim of topic '" + topic + "' as a take returned it");
  }

  private static MessageId id(String topic, String encoded) {
    int colon = encoded.indexOf(':');
    MessageId id =
        MessageId.of(
            topic,
            colon < 0 ? null : PercentEncoding.unpercent(encoded.substring(0, colon)),
            PercentEncoding.unpercent(encoded.substring(colon + 1)));
    if (!id.id().equals(encoded)) { // another spelling would be another field in Redis
      throw new GameQueueException("not as gameq encodes it");
    }
    return id;
  }

  private boolean isSound() {
    return TOKEN.matcher(token).matches()
        && attempt >= 1
        && attempt <= Retry.MOST_ATTEMPTS
        && nextDueMillis >= 0
        && nextDueMillis <= LAST_MILLIS;
  }

  /** With {@code slots} of the topic. */
  MessageChange.Ack ack(int slots) {
    return new MessageChange.Ack(id, id.slot(slots), version, token, nextDueMillis);
  }

  /** What scripts need of a message that was taken; without its value. */
  TakenMessage taken(int slots) {
    return new TakenMessage(id, id.slot(slots), token, 0, 0, attempt, 0, 0, new byte[0]);
  }
}

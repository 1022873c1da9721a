package io.gameq.writer.console.access;

import java.security.SecureRandom;
import java.util.Base64;

/** Ids that nobody guesses: 256 bits, as text for headers and cookies. Thread-safe. */
final class RandomIds {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int BYTES = 32;

  private RandomIds() {}

  static String next() {
    byte[] bytes = new byte[BYTES];
    RANDOM.nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}

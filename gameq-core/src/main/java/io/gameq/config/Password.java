package io.gameq.config;

import io.gameq.GameQueueException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;

/**
 * A secret that is read again whenever a connection is made, so that it may change while gameq
 * runs. Never shown. Thread-safe, as far as its source is.
 */
public final class Password {
  /** Whoever gives a larger file has given the wrong one. */
  private static final int MOST_FILE_BYTES = 64 << 10;

  private final String source;
  private final Supplier<String> secret;

  private Password(String source, Supplier<String> secret) {
    this.source = source;
    this.secret = secret;
  }

  /** One that does not change. */
  public static Password of(String secret) {
    if (secret == null) { // by a caller without nullness checks
      throw new GameQueueException("a password is null; is an environment variable not set?");
    }
    return new Password("the configuration", () -> secret);
  }

  /**
   * The content of a file, without the line end that an editor leaves. The file is read for each
   * new connection: replace it by another one in one step (rename), so that it is never read half
   * written.
   */
  public static Password ofFile(Path file) {
    return new Password("file " + file, () -> read(file));
  }

  /**
   * What a supplier returns, which is asked for each new connection, from any thread; it should
   * answer within a second.
   *
   * @param source named in messages, for example {@code "Vault"}
   */
  public static Password from(String source, Supplier<String> secret) {
    return new Password(source, secret);
  }

  /**
   * The secret as it is now.
   *
   * @throws GameQueueException when it cannot be read, naming where it should come from
   */
  public String read() {
    return secret.get();
  }

  private static String read(Path file) {
    try {
      if (Files.size(file) > MOST_FILE_BYTES) {
        throw new GameQueueException(
            "password file %s is larger than %s KiB: is it the right one?"
                .formatted(file, MOST_FILE_BYTES >> 10));
      }
      String secret = Files.readString(file).stripTrailing();
      if (secret.isEmpty()) {
        throw new GameQueueException(
            "password file %s is empty: write the password into it".formatted(file));
      }
      return secret;
    } catch (IOException e) {
      // Not as the cause: a file that is no text would be told with its bytes.
      throw new GameQueueException(
          ("password file %s cannot be read: check that it is there, is UTF-8 and may be read by"
                  + " %s")
              .formatted(file, System.getProperty("user.name")));
    }
  }

  /** Where it comes from, for messages. */
  public String source() {
    return source;
  }

  /** Names the source alone. */
  @Override
  public String toString() {
    return "Password[of " + source + "]";
  }
}

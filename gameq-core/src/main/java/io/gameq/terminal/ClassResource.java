package io.gameq.terminal;

import io.gameq.GameQueueException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** A file that lies beside a class in its jar. Stateless. */
public final class ClassResource {
  private ClassResource() {}

  /**
   * What is in it.
   *
   * @throws GameQueueException when it is not there
   */
  public static byte[] bytes(Class<?> beside, String file) {
    try (InputStream in = beside.getResourceAsStream(file)) {
      if (in == null) {
        throw new GameQueueException("gameq's jar lacks %s: build it anew".formatted(file));
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The same as text, in UTF-8. */
  public static String text(Class<?> beside, String file) {
    return new String(bytes(beside, file), StandardCharsets.UTF_8);
  }
}

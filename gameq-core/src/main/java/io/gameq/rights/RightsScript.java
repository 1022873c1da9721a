package io.gameq.rights;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Reads a script of rights, and puts names in the place of {@code ${...}}. Stateless. */
final class RightsScript {
  /** Of a user's name; MySQL takes 32 characters, and {@code _migration} follows. */
  private static final int MOST_USER_CHARS = 22;

  private RightsScript() {}

  /** The lines of a resource of this package. */
  static List<String> lines(String resource) {
    try (InputStream in =
        Objects.requireNonNull(RightsScript.class.getResourceAsStream(resource), resource)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String with(String line, Map<String, String> names) {
    String filled = line;
    for (Map.Entry<String, String> name : names.entrySet()) {
      filled = filled.replace("${" + name.getKey() + "}", name.getValue());
    }
    return filled;
  }

  /** How the users of a namespace begin. */
  static String user(String namespace) {
    return namespace.substring(0, Math.min(MOST_USER_CHARS, namespace.length()));
  }
}

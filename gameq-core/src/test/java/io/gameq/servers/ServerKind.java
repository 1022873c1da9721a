package io.gameq.servers;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Where the servers of a test run come from, and the settings that say so. */
enum ServerKind {
  GIVEN,
  DOCKER,
  EMBEDDED,
  /** Tests that ask for one are skipped: {@link WithoutServers}. */
  NONE;

  /** The kind that the settings ask for, null when they leave the choice to us. */
  static @Nullable ServerKind asked() {
    if (setting("GAMEQ_TEST_REDIS") != null && setting("GAMEQ_TEST_MYSQL") != null) {
      return GIVEN;
    }
    String forced = setting("GAMEQ_TEST_SERVERS");
    return forced == null ? null : valueOf(forced.toUpperCase(Locale.ROOT));
  }

  /**
   * A system property, else an environment variable, of this name; null when neither has a value.
   */
  static @Nullable String setting(String name) {
    String value = System.getProperty(name, System.getenv(name));
    return value == null || value.isBlank() ? null : value;
  }

  static String setting(String name, String otherwise) {
    String value = setting(name);
    return value == null ? otherwise : value;
  }
}

package io.gameq.rights;

import java.util.Locale;

/** Who has rights of his own. */
public enum Role {
  NODE,
  WRITER,
  RECOVERY,
  /** {@code schema check} and {@code schema migrate}; not in Redis. */
  MIGRATION;

  /** As it ends the names of users. */
  public String lowerCase() {
    return name().toLowerCase(Locale.ROOT);
  }
}

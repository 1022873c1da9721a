package io.gameq.writer.config;

/**
 * A secret that lets its bearer ask a writer over HTTP; immutable. Shown without the secret.
 *
 * @param name of whoever has it, for the audit log
 */
public record AccessToken(String name, Role role, String secret) {
  /** What a token allows. */
  public enum Role {
    /** To look, at values of rows as well. */
    READ,
    /** To act as well: to retry, to discard, to pause. */
    ACT
  }

  @Override
  public String toString() {
    return "AccessToken[name=%s, role=%s, secret=***]".formatted(name, role);
  }
}

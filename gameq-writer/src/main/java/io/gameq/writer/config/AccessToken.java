package io.gameq.writer.config;

import io.gameq.config.Password;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A secret that lets its bearer ask a writer over HTTP; immutable. Shown without the secret.
 *
 * @param name of whoever has it, for the audit log
 * @param secret read again every few seconds: see {@code AccessTokens}
 * @param topics whose messages it may see and handle, each with {@code *} for any characters; empty
 *     for all
 * @param mayDefine whether it may define topics, which all who watch them pay for
 */
public record AccessToken(
    String name, TokenRole role, Password secret, List<String> topics, boolean mayDefine) {
  /** Shorter ones can be guessed. */
  public static final int LEAST_CHARS = 16;

  /** What a token allows. */
  public enum TokenRole {
    /** To look, at values of rows as well. */
    READ,
    /**
     * For programs: to publish messages and to handle them, to define topics if it {@code
     * mayDefine}, and nothing of the console.
     */
    MESSAGES,
    /** To act as well: to retry, to discard, to pause; and what {@link #MESSAGES} may. */
    ACT
  }

  /** For all topics, of a secret that does not change; who may act may define them. */
  public AccessToken(String name, TokenRole role, String secret) {
    this(name, role, Password.of(secret), List.of(), role == TokenRole.ACT);
  }

  /** Whether it is good for a topic. */
  public boolean allows(String topic) {
    return topics.isEmpty() || topics.stream().anyMatch(of -> matches(of, topic));
  }

  private static boolean matches(String pattern, String topic) {
    String regex =
        Arrays.stream(pattern.split("\\*", -1))
            .map(Pattern::quote)
            .collect(Collectors.joining(".*"));
    return topic.matches(regex);
  }

  @Override
  public String toString() {
    return "AccessToken[name=%s, role=%s, secret=***, topics=%s]".formatted(name, role, topics);
  }
}

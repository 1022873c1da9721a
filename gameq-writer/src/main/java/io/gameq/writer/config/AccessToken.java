package io.gameq.writer.config;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A secret that lets its bearer ask a writer over HTTP; immutable. Shown without the secret.
 *
 * @param name of whoever has it, for the audit log
 * @param topics whose messages it may see and handle, each with {@code *} for any characters; empty
 *     for all
 */
public record AccessToken(String name, Role role, String secret, List<String> topics) {
  /** What a token allows. */
  public enum Role {
    /** To look, at values of rows as well. */
    READ,
    /** For programs: to publish messages and to handle them, and nothing of the console. */
    MESSAGES,
    /** To act as well: to retry, to discard, to pause; and what {@link #MESSAGES} may. */
    ACT
  }

  public AccessToken {
    topics = List.copyOf(topics);
  }

  /** For all topics. */
  public AccessToken(String name, Role role, String secret) {
    this(name, role, secret, List.of());
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

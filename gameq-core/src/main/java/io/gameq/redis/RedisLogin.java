package io.gameq.redis;

import io.gameq.Password;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Who logs in to Redis or to a Sentinel; immutable.
 *
 * @param user null: the default user
 * @param password null: no login
 */
public record RedisLogin(@Nullable String user, @Nullable Password password) {
  public static final RedisLogin NONE = new RedisLogin(null, null);

  private static final Pattern LOGIN_OF_URI = Pattern.compile("[a-z-]+://(.*)@.*");

  /**
   * The same with what it lacks from the URI: {@code user:password@}, {@code :password@} or {@code
   * password@}; where this has a password, {@code user@} too.
   */
  RedisLogin orOf(String uri) {
    Matcher found = LOGIN_OF_URI.matcher(uri);
    if (!found.matches()) {
      return this;
    }
    String[] parts = found.group(1).split(":", 2);
    if (password != null) {
      return user != null || parts[0].isEmpty()
          ? this
          : new RedisLogin(decoded(parts[0]), password);
    }
    Password ofUri =
        Password.from("the URI", () -> decoded(parts.length == 1 ? parts[0] : parts[1]));
    return parts.length == 1 || parts[0].isEmpty()
        ? new RedisLogin(null, ofUri)
        : new RedisLogin(decoded(parts[0]), ofUri);
  }

  /** A plus sign is one in this part of a URI. */
  private static String decoded(String text) {
    return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  @Nullable FreshCredentials credentials() {
    return password == null ? null : new FreshCredentials(user, password);
  }

  /** For messages: {@code user 'node' with the password of file /run/secrets/redis}. */
  String described() {
    return "%s with %s"
        .formatted(
            user == null ? "the default user" : "user '" + user + "'",
            password == null ? "no password" : "the password of " + password.source());
  }
}

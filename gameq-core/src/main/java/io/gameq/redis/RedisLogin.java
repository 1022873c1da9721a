package io.gameq.redis;

import io.gameq.Password;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Who logs in to Redis or to a Sentinel; immutable.
 *
 * @param user null: the one that the URI names, else the default user
 * @param password null: the one that the URI has, else none
 */
public record RedisLogin(@Nullable String user, @Nullable Password password) {
  /** Whatever the URI says. */
  public static final RedisLogin NONE = new RedisLogin(null, null);

  private static final Pattern USER_OF_URI = Pattern.compile("[a-z-]+://([^:@/]+)(:[^/]*)?@.*");

  /** The same, with the user of the URI where none is given. */
  RedisLogin withUserOf(String uri) {
    Matcher userInfo = USER_OF_URI.matcher(uri);
    return user == null && password != null && userInfo.matches()
        ? new RedisLogin(URLDecoder.decode(userInfo.group(1), StandardCharsets.UTF_8), password)
        : this;
  }

  /** Reads the password whenever a connection is made; null when there is none. */
  @Nullable RedisCredentialsProvider credentials() {
    Password secret = password;
    return secret == null
        ? null
        : RedisCredentialsProvider.from(
            () -> RedisCredentials.just(user, secret.read().toCharArray()));
  }

  /** For messages: {@code user 'node' with the password of file /run/secrets/redis}. */
  String described() {
    Password secret = password;
    if (secret == null) {
      return user == null ? "the URI" : "user '" + user + "' without a password";
    }
    return "%s with the password of %s"
        .formatted(user == null ? "the default user" : "user '" + user + "'", secret.source());
  }
}

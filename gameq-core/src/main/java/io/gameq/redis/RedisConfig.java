package io.gameq.redis;

import io.gameq.GameQueueException;
import io.gameq.Password;
import io.gameq.Tls;
import org.jspecify.annotations.Nullable;

/**
 * Where Redis is, and who logs in; immutable.
 *
 * @param uri {@code redis://host:port/db} or {@code redis-sentinel://h1:p,h2:p/db#primary}; {@code
 *     rediss} in place of {@code redis} for TLS, always with the server's certificate checked
 * @param login to Redis
 * @param sentinel the login to the Sentinels themselves
 * @param tls whom to trust; null: the CAs that the JVM trusts
 * @param timeoutMillis how long a command may take before the connection is given up
 */
public record RedisConfig(
    String uri, RedisLogin login, RedisLogin sentinel, @Nullable Tls tls, int timeoutMillis) {
  /**
   * Longer than any script or MULTI of gameq takes; shorter than a lease. The system property is
   * for tests on a machine that stands still for seconds.
   */
  public static final int DEFAULT_TIMEOUT_MILLIS =
      Integer.getInteger("gameq.redisTimeoutMillis", 5_000);

  public RedisConfig {
    if (tls != null && !uri.startsWith("rediss")) {
      throw new GameQueueException(
          "TLS is set for Redis and its URI is without: begin the URI with rediss:// or"
              + " rediss-sentinel://");
    }
    if (isUserAlone(login) || isUserAlone(sentinel)) {
      throw new GameQueueException(
          "a user is set for Redis or its Sentinels without a password: set the password, or its"
              + " file, too");
    }
    login = login.orOf(uri);
  }

  /**
   * Without TLS files, and without a user beside the URI's.
   *
   * @param password null when there is none, or when the URI carries it
   */
  public RedisConfig(String uri, @Nullable String password, int timeoutMillis) {
    this(
        uri,
        new RedisLogin(null, password == null ? null : Password.of(password)),
        RedisLogin.NONE,
        null,
        timeoutMillis);
  }

  /** The same with {@link #DEFAULT_TIMEOUT_MILLIS}, and no password beside the URI's. */
  public RedisConfig(String uri) {
    this(uri, null, DEFAULT_TIMEOUT_MILLIS);
  }

  private static boolean isUserAlone(RedisLogin of) {
    return of.user() != null && of.password() == null;
  }

  @Override
  public String toString() {
    return "RedisConfig[" + RedisConnector.redacted(uri) + "]";
  }
}

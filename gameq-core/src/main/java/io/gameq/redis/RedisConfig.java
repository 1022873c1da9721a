package io.gameq.redis;

import org.jspecify.annotations.Nullable;

/**
 * Where Redis is; immutable.
 *
 * @param uri {@code redis://host:port/db}, {@code rediss://...}, or {@code
 *     redis-sentinel://h1:p,h2:p/db#primary}
 * @param password null when there is none, or when the URI carries it; never shown
 * @param timeoutMillis how long a command may take before the connection is given up
 */
public record RedisConfig(String uri, @Nullable String password, int timeoutMillis) {
  /** Longer than any script or MULTI of gameq takes; shorter than a lease. */
  public static final int DEFAULT_TIMEOUT_MILLIS = 5_000;

  @Override
  public String toString() {
    return "RedisConfig[" + RedisConnector.redacted(uri) + "]";
  }
}

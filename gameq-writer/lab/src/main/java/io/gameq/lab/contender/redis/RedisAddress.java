package io.gameq.lab.contender.redis;

import io.gameq.lab.workload.BenchException;
import java.net.URI;
import java.util.Optional;

/**
 * Where a plain socket finds Redis, out of a URI; immutable.
 *
 * @param login AUTH and its arguments
 * @param database number of SELECT
 */
record RedisAddress(String host, int port, Optional<String[]> login, String database) {
  private static final int DEFAULT_PORT = 6379;

  /** Throws {@link BenchException} for TLS and Sentinel, which a plain socket does not speak. */
  static RedisAddress of(String redis) {
    if (!redis.startsWith("redis://")) {
      throw new BenchException(
          "the limit of Redis is measured through a plain socket: give redis://host:port, or leave"
              + " 'limits' out of --parts");
    }
    URI uri = URI.create(redis);
    String database = uri.getPath() == null ? "" : uri.getPath().replace("/", "");
    return new RedisAddress(
        uri.getHost(),
        uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort(),
        Optional.ofNullable(uri.getUserInfo()).map(RedisAddress::login),
        database.isEmpty() ? "0" : database);
  }

  /** {@code user:password}, or only {@code password}. */
  private static String[] login(String user) {
    int colon = user.indexOf(':');
    return colon <= 0
        ? new String[] {"AUTH", user.substring(colon + 1)}
        : new String[] {"AUTH", user.substring(0, colon), user.substring(colon + 1)};
  }
}

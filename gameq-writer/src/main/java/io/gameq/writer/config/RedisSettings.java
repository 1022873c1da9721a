package io.gameq.writer.config;

import org.jspecify.annotations.Nullable;

/**
 * Where Redis is; immutable.
 *
 * @param uri {@code redis://host:port/db}, {@code rediss://...} or {@code
 *     redis-sentinel://h1:26379,h2:26379/db#primary}
 * @param password null when there is none or the URI carries it; never shown
 */
public record RedisSettings(String uri, @Nullable String password) {
  @Override
  public String toString() {
    return "RedisSettings[%s]".formatted(uri.replaceFirst("//[^/]*@", "//***@"));
  }
}

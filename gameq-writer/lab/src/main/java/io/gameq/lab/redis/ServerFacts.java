package io.gameq.lab.redis;

import io.gameq.redis.RedisConnector;
import io.gameq.redis.RedisConnector.RedisConfig;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a Redis server says of itself, for a result. Stateless. */
public final class ServerFacts {
  private static final List<String> SETTINGS =
      List.of("maxmemory", "maxmemory-policy", "appendonly", "appendfsync", "save", "io-threads");

  private ServerFacts() {}

  /** The version, and the settings that speed and safety depend on. */
  public static Map<String, Object> of(String redisUri) {
    Map<String, Object> facts = new LinkedHashMap<>();
    try (RedisConnector redis = new RedisConnector(new RedisConfig(redisUri));
        RedisMemory server = new RedisMemory(redis)) {
      for (String name : List.of("redis_version", "valkey_version", "redis_mode")) {
        server.info("server", name).ifPresent(value -> facts.put(name, value));
      }
      SETTINGS.forEach(name -> facts.put(name, server.setting(name)));
    }
    return facts;
  }
}

package io.gameq.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.config.Password;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisConnector.RedisLogin;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rights.RedisRights;
import io.gameq.servers.LeastRedisUsers;
import io.gameq.servers.TestServers;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who logs in to Redis. */
class RedisLoginTest {
  @ParameterizedTest
  @CsvSource({
    "redis://host, , ",
    "redis://:pa+ss@host, , pa+ss",
    "redis://pass@host, , pass",
    "rediss://user:p%40s:s/x@host:1/0, user, p@s:s/x",
    "'redis-sentinel://us%3Aer:pass@h1:1,h2:2/0#primary', us:er, pass",
  })
  void theUriMayHaveUserAndPassword(String uri, String user, String password) {
    RedisLogin login = RedisLogin.NONE.orOf(uri);
    assertEquals(user, login.user());
    assertEquals(password, login.password() == null ? null : login.password().read());
  }

  @Test
  void aSettingComesBeforeTheUri() {
    RedisLogin password = new RedisLogin(null, Password.of("set"));
    assertEquals("of-uri", password.orOf("redis://of-uri:x@host").user());
    assertEquals("of-uri", password.orOf("redis://of-uri@host").user());
    RedisLogin both = new RedisLogin("set", Password.of("set"));
    assertEquals(both, both.orOf("redis://of-uri:x@host"));
    assertEquals("set", Objects.requireNonNull(both.password()).read());
    assertThrows(
        GameQueueException.class,
        () ->
            new RedisConfig(
                "redis://host", new RedisLogin("alone", null), RedisLogin.NONE, null, 1_000));
  }

  /** The client would otherwise say that a connection is there before it takes commands. */
  @Test
  void thePasswordIsReadByWhoeverConnectsForEachConnection() {
    String uri = TestServers.redisUri(Role.WRITER);
    CompletableFuture<Thread> reader = new CompletableFuture<>();
    Password password =
        Password.from(
            "the test",
            () -> {
              reader.complete(Thread.currentThread());
              return LeastRedisUsers.PASSWORD;
            });
    RedisConfig config =
        new RedisConfig(
            LeastRedisUsers.withoutLogin(uri),
            new RedisLogin(RedisRights.user(LeastRedisUsers.ANY, Role.WRITER), password),
            RedisLogin.NONE,
            null,
            5_000);
    try (RedisConnector connector = new RedisConnector(config)) {
      assertTrue(!reader.isDone());
      connector.open().close();
      assertEquals(Thread.currentThread(), reader.join());
    }
  }
}

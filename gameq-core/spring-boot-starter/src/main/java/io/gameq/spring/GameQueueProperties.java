package io.gameq.spring;

import io.gameq.GameQueueException;
import io.gameq.config.GameQueueConfig;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.config.Password;
import io.gameq.config.Tls;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What stands under {@code gameq}. Immutable.
 *
 * @param enabled Whether there is a queue at all.
 * @param redis Redis.
 * @param mysql MySQL.
 * @param namespace Names the game in all Redis keys: 1 to 32 of a-z 0-9 _ -. Required.
 * @param node Names this node: 1 to 64 of A-Z a-z 0-9 . _ -, the same after a restart. Required.
 * @param walDirectory Local file system, kept across restarts, in which the WAL is made.
 * @param slots Shards of owners, the same as the writers'.
 * @param mergeWindow How long a changed owner waits so that later changes merge into one flush.
 * @param linger How long a commit may wait for others that travel with it, where they come often.
 * @param callTimeout How long an open, a read or a close may take.
 * @param drainTimeout How long the stop of the context waits until everything is in MySQL.
 * @param failFast Whether a queue that cannot be opened fails the start of the context; else it is
 *     tried again, and the queue throws until it is open.
 * @param retryEvery How often it is tried again.
 */
@ConfigurationProperties("gameq")
public record GameQueueProperties(
    @DefaultValue("true") boolean enabled,
    @DefaultValue Redis redis,
    @DefaultValue MySql mysql,
    @Nullable String namespace,
    @Nullable String node,
    @DefaultValue("wal") Path walDirectory,
    @DefaultValue("256") int slots,
    @DefaultValue("1s") Duration mergeWindow,
    @DefaultValue("1ms") Duration linger,
    @DefaultValue("15s") Duration callTimeout,
    @DefaultValue("20s") Duration drainTimeout,
    @DefaultValue("true") boolean failFast,
    @DefaultValue("5s") Duration retryEvery) {

  /**
   * Redis, and the login.
   *
   * @param uri Such as redis://host:6379, or redis-sentinel://host:26379,host:26379#primary.
   *     Required.
   * @param user User; Redis' default user where there is none.
   * @param password Password.
   * @param passwordFile File with the password, read again for each connection.
   * @param caFile PEM file of the CAs that are trusted with rediss; the JVM's where there is none.
   */
  public record Redis(
      @Nullable String uri,
      @Nullable String user,
      @Nullable String password,
      @Nullable Path passwordFile,
      @Nullable Path caFile) {
    /** Shows no secret. */
    @Override
    public String toString() {
      return "Redis[user=" + user + "]";
    }
  }

  /**
   * The settings that these come to.
   *
   * @throws GameQueueException naming the property that is missing
   */
  GameQueueConfigBuilder settings() {
    Password ofMySql = password("gameq.mysql", mysql.password(), mysql.passwordFile());
    GameQueueConfigBuilder settings =
        GameQueueConfig.builder()
            .redis(required("gameq.redis.uri", redis.uri()))
            .mysql(
                required("gameq.mysql.url", mysql.url()),
                required("gameq.mysql.user", mysql.user()),
                ofMySql == null ? Password.of("") : ofMySql)
            .poolSize(mysql.poolSize())
            .namespace(required("gameq.namespace", namespace))
            .node(required("gameq.node", node))
            .walDirectory(walDirectory)
            .slots(slots)
            .mergeWindow(mergeWindow)
            .linger(linger)
            .callTimeout(callTimeout);
    if (redis.user() != null) {
      settings.redisUser(redis.user());
    }
    Password ofRedis = password("gameq.redis", redis.password(), redis.passwordFile());
    if (ofRedis != null) {
      settings.redisPassword(ofRedis);
    }
    if (redis.caFile() != null) {
      settings.redisTls(Tls.verifiedBy(redis.caFile()));
    }
    if (mysql.caFile() != null) {
      settings.mysqlTls(Tls.verifiedBy(mysql.caFile()));
    }
    return settings;
  }

  private static String required(String property, @Nullable String value) {
    if (value == null || value.isBlank()) {
      throw new GameQueueException("property " + property + " is missing");
    }
    return value;
  }

  private static @Nullable Password password(
      String of, @Nullable String password, @Nullable Path file) {
    if (file == null) {
      return password == null ? null : Password.of(password);
    }
    if (password != null) {
      throw new GameQueueException(
          "properties %s.password and %s.password-file are both there: leave one out"
              .formatted(of, of));
    }
    return Password.ofFile(file);
  }

  /** Names node and namespace; no addresses or secrets. */
  @Override
  public String toString() {
    return "GameQueueProperties[namespace=" + namespace + ", node=" + node + "]";
  }
}

package io.gameq.lab.scratch;

import io.gameq.config.GameQueueConfig;
import io.gameq.config.GameQueueConfigBuilder;
import io.gameq.config.Password;
import io.gameq.lab.mysql.ScratchDatabase;
import io.gameq.lab.redis.RedisUsers;
import io.gameq.mysql.MySqlPool.MySqlConfig;
import io.gameq.redis.RedisConnector.RedisConfig;
import io.gameq.redis.RedisConnector.RedisLogin;
import io.gameq.rights.MySqlRights;
import io.gameq.rights.MySqlRights.Role;
import io.gameq.rights.RedisRights;
import java.util.UUID;

/**
 * Who nodes and writers log in as: users with the least rights on embedded servers, and as given on
 * servers that were given. Immutable.
 */
public final class LeastLogins {
  private final ScratchServers servers;
  private final String namespace;
  private final Password password = Password.of(UUID.randomUUID().toString());

  /** Makes the users, once the database is migrated. */
  public LeastLogins(ScratchServers servers, ScratchDatabase database, String namespace) {
    this.servers = servers;
    this.namespace = namespace;
    if (servers.areEmbedded()) {
      String secret = password.read();
      database.run(
          MySqlRights.statements(
                  MySqlRights.script(
                      namespace, servers.mysql().database(), database.managedTables()))
              .stream()
              .map(sql -> sql.replaceAll("\\$\\{[A-Z]+_PASSWORD}", secret))
              .toList());
      RedisUsers.make(servers.redis(RedisLogin.NONE), namespace, secret);
    }
  }

  /** A node's configuration, with the servers and its logins. */
  public GameQueueConfigBuilder ofNode() {
    RedisConfig at = redis(Role.NODE);
    RedisLogin redis = at.login();
    MySqlConfig mysql = mysql(Role.NODE);
    GameQueueConfigBuilder node =
        GameQueueConfig.builder()
            .redis(servers.redisUri())
            .mysql(mysql.url(), mysql.user(), mysql.password());
    if (at.tls() != null) {
      node.redisTls(at.tls());
    }
    if (mysql.tls() != null) {
      node.mysqlTls(mysql.tls());
    }
    return redis.user() == null || redis.password() == null
        ? node
        : node.redisUser(redis.user()).redisPassword(redis.password());
  }

  /** The login of a role to Redis. */
  public RedisConfig redis(Role role) {
    RedisLogin login =
        servers.areEmbedded()
            ? new RedisLogin(RedisRights.user(namespace, role), password)
            : RedisLogin.NONE;
    return servers.redis(login);
  }

  /** The login of a role to MySQL. */
  public MySqlConfig mysql(Role role) {
    MySqlConfig given = servers.mysql();
    return servers.areEmbedded()
        ? new MySqlConfig(
            given.url(), MySqlRights.user(namespace, role), password, given.poolSize(), given.tls())
        : given;
  }
}

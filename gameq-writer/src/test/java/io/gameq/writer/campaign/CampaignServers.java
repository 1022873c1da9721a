package io.gameq.writer.campaign;

import io.gameq.lab.servers.EmbeddedRedis;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A Redis and a MariaDB of the campaign's own, since faults kill, stop and fill them. Used by the
 * campaign's thread.
 */
final class CampaignServers implements AutoCloseable {
  private final EmbeddedRedis redis = EmbeddedRedis.start();
  private final RedisClient client = RedisClient.create(redis.uri());
  private final RedisCommands<String, String> commands;
  private final CampaignMySql mysql;

  CampaignServers(Path directory) {
    RedisURI uri = RedisURI.create(redis.uri());
    uri.setTimeout(Duration.ofSeconds(30)); // longer than the faults that stop Redis
    commands = client.connect(uri).sync();
    mysql = new CampaignMySql(directory);
  }

  /** An administrator's connection, past all proxies. */
  RedisCommands<String, String> redis() {
    return commands;
  }

  String redisUri() {
    return redis.uri();
  }

  int redisPort() {
    return redis.port();
  }

  long redisPid() {
    return redis.pid();
  }

  CampaignMySql mysql() {
    return mysql;
  }

  @Override
  public void close() {
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    redis.close();
    mysql.close();
  }
}

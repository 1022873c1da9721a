package io.gameq.writer.campaign;

import io.gameq.servers.ProcessClock;
import io.gameq.servers.RedisProcess;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A Redis and a MariaDB of the campaign's own, since faults kill, stop and fill them. Used by the
 * campaign's thread.
 */
final class CampaignServers implements AutoCloseable {
  private final int redisPort = RedisProcess.freePort();
  private final ProcessClock redisClock;
  private final RedisProcess redis;
  private final RedisClient client = RedisClient.create(redisUri());
  private final RedisCommands<String, String> commands;
  private final CampaignMySql mysql;

  CampaignServers(Path directory) throws IOException {
    Path ofRedis = Files.createDirectories(directory.resolve("redis")).toAbsolutePath();
    redisClock = new ProcessClock(ofRedis.resolve("clock"));
    redis =
        RedisProcess.server(
            redisClock.startOf(RedisProcess.executable(ofRedis)),
            ofRedis,
            List.of(
                "port " + redisPort,
                "bind 127.0.0.1",
                "save \"\"",
                "appendonly no",
                "maxmemory-policy noeviction"));
    RedisURI uri = RedisURI.create(redisUri());
    uri.setTimeout(Duration.ofSeconds(30)); // longer than the faults that stop Redis
    commands = client.connect(uri).sync();
    mysql = new CampaignMySql(directory.resolve("mariadb"));
  }

  /** An administrator's connection, past all proxies. */
  RedisCommands<String, String> redis() {
    return commands;
  }

  String redisUri() {
    return "redis://127.0.0.1:" + redisPort;
  }

  int redisPort() {
    return redisPort;
  }

  long redisPid() {
    return redis.pid();
  }

  /** Sets the clock of Redis alone, while it serves; returns when it knows. */
  void setRedisClock(Duration ahead) {
    redisClock.set(ahead, () -> Long.parseLong(commands.time().get(0)) * 1_000);
  }

  CampaignMySql mysql() {
    return mysql;
  }

  @Override
  public void close() {
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    redis.close();
    ProcessClock.forget(redis.pid());
    mysql.close();
  }
}

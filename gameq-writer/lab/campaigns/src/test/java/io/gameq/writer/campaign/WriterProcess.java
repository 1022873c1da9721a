package io.gameq.writer.campaign;

import io.gameq.servers.ChildJvm.Build;
import io.gameq.servers.FaultProxy;
import java.io.IOException;
import java.nio.file.Path;

/** A writer: its process, and the proxies between it and its servers. */
final class WriterProcess extends WriterJvm implements AutoCloseable {
  private final FaultProxy redis;
  private final FaultProxy mysql;

  WriterProcess(
      Build build,
      Path directory,
      String name,
      String namespace,
      String database,
      FaultProxy redis,
      FaultProxy mysql)
      throws IOException {
    super(
        build,
        directory,
        name,
        namespace,
        "redis://127.0.0.1:" + redis.port(),
        World.jdbcUrl(mysql.port(), database));
    this.redis = redis;
    this.mysql = mysql;
  }

  FaultProxy redis() {
    return redis;
  }

  FaultProxy mysql() {
    return mysql;
  }

  @Override
  public void heal() {
    redis.heal();
    mysql.heal();
    super.heal();
  }

  @Override
  public void close() {
    kill();
    redis.close();
    mysql.close();
  }
}

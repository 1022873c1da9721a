package io.gameq.writer.campaign;

import io.gameq.servers.ChildJvm.Build;
import io.gameq.servers.FaultProxy;
import java.nio.file.Path;

/** A game node: its process, and the proxies between it and its servers. */
final class NodeProcess extends NodeJvm implements AutoCloseable {
  private final FaultProxy redis;
  private final FaultProxy mysql;

  NodeProcess(
      Build build,
      Path directory,
      NodeOptions options,
      boolean hasOwnClock,
      FaultProxy redis,
      FaultProxy mysql) {
    super(build, directory, options, hasOwnClock);
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

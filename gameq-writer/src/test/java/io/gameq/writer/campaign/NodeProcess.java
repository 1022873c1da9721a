package io.gameq.writer.campaign;

import java.nio.file.Path;

/**
 * A game node: its process, and the proxies between it and its servers. Thread-safe enough for one
 * campaign thread and its traps.
 */
final class NodeProcess implements AutoCloseable {
  private final Path log;
  private final FaultProxy redis;
  private final FaultProxy mysql;
  private final NodeOptions first;
  private NodeOptions options;
  private ChildJvm process;

  NodeProcess(Path directory, NodeOptions options, FaultProxy redis, FaultProxy mysql) {
    this.log = directory.resolve(options.name() + ".log");
    this.first = options;
    this.options = options;
    this.redis = redis;
    this.mysql = mysql;
    this.process = launch();
  }

  private ChildJvm launch() {
    return ChildJvm.start(log, CampaignNode.class, options.toArguments());
  }

  FaultProxy redis() {
    return redis;
  }

  FaultProxy mysql() {
    return mysql;
  }

  NodeOptions options() {
    return options;
  }

  ChildJvm process() {
    return process;
  }

  void awaitReady() {
    process.awaitLine("ready");
  }

  void kill() {
    process.kill();
  }

  /** Kills it if it lives, and starts it anew as it was at first. */
  void restart() {
    restart(first.wal(), 0);
  }

  /** The same with another WAL directory or another clock. */
  void restart(Path wal, long clockOffsetMillis) {
    process.kill();
    options = first.with(options.incarnation() + 1, wal, clockOffsetMillis);
    process = launch();
    awaitReady();
  }

  void heal() {
    redis.heal();
    mysql.heal();
    Signals.resume(process.pid());
    if (!process.isAlive()) {
      restart();
    }
  }

  /** Stops the game and waits until every commit has an outcome; returns how many have none. */
  int stopPlaying() {
    process.tell("stop");
    return Integer.parseInt(process.awaitLine("stopped ").substring("stopped ".length()));
  }

  @Override
  public void close() {
    process.kill();
    redis.close();
    mysql.close();
  }
}

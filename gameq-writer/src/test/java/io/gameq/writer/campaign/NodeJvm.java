package io.gameq.writer.campaign;

import java.nio.file.Path;

/**
 * The process of a game node: started, killed, started again. Thread-safe enough for one campaign
 * thread and its traps.
 */
public class NodeJvm {
  private final Path log;
  private final NodeOptions first;
  private NodeOptions options;
  private ChildJvm process;

  public NodeJvm(Path directory, NodeOptions options) {
    this.log = directory.resolve(options.name() + ".log");
    this.first = options;
    this.options = options;
    this.process = launch();
  }

  private ChildJvm launch() {
    return ChildJvm.start(log, CampaignNode.class, options.toArguments());
  }

  /** Where its log is, of all its starts. */
  public Path log() {
    return log;
  }

  public String name() {
    return options.name();
  }

  public NodeOptions options() {
    return options;
  }

  public ChildJvm process() {
    return process;
  }

  public void awaitReady() {
    process.awaitLine("ready");
  }

  public void kill() {
    process.kill();
  }

  /** Kills it if it lives, and starts it anew as it was at first. */
  public void restart() {
    restart(first.wal(), 0);
  }

  /** The same with another WAL directory or another clock. */
  void restart(Path wal, long clockOffsetMillis) {
    process.kill();
    options = first.with(options.incarnation() + 1, wal, clockOffsetMillis);
    process = launch();
    awaitReady();
  }

  /** Lets it go on, or starts it anew. */
  public void heal() {
    Signals.resume(process.pid());
    if (!process.isAlive()) {
      restart();
    }
  }

  /** Stops the game and waits until every commit has an outcome; returns how many have none. */
  public int stopPlaying() {
    return ask("stop", "stopped ");
  }

  /**
   * After that: waits until everything acknowledged is durable, set aside or reported as lost;
   * returns of how many commits nothing is known.
   */
  public int settle() {
    return ask("settle", "settled ");
  }

  /** After every node has stopped: writes what sessions it has into its history. */
  public void noteHeld() {
    ask("hold", "held ");
  }

  private int ask(String question, String answer) {
    process.tell(question);
    return Integer.parseInt(process.awaitLine(answer).substring(answer.length()));
  }
}

package io.gameq.writer.campaign;

import io.gameq.servers.ChildJvm;
import io.gameq.servers.ChildJvm.Build;
import io.gameq.servers.ProcessClock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The process of a game node: started, killed, started again. Thread-safe enough for one campaign
 * thread and its traps.
 */
public class NodeJvm {
  private final Path log;
  private final NodeOptions first;
  private final @Nullable ProcessClock clock;
  private NodeOptions options;
  private Build build;
  private ChildJvm process;

  /**
   * Starts it.
   *
   * @param hasOwnClock whether its clock may be set
   */
  public NodeJvm(Path directory, NodeOptions options, boolean hasOwnClock) {
    this(Build.THIS, directory, options, hasOwnClock);
  }

  /** The same of another build. */
  NodeJvm(Build build, Path directory, NodeOptions options, boolean hasOwnClock) {
    this.build = build;
    this.log = directory.resolve(options.name() + ".log");
    this.clock =
        hasOwnClock ? new ProcessClock(directory.resolve(options.name() + ".clock")) : null;
    this.first = options;
    this.options = options;
    this.process = launch();
  }

  private ChildJvm launch() {
    return ChildJvm.start(
        build,
        log,
        CampaignNode.class,
        options.toArguments(),
        clock == null ? Map.of() : clock.environment());
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

  /** Sets the clock of this process alone, while it plays; returns when it knows. */
  public void setClock(Duration ahead) {
    if (clock == null) {
      throw new IllegalStateException(name() + " has the host's clock");
    }
    clock.set(ahead, () -> Long.parseLong(answer("clock", "clock ")));
  }

  /** Kills it if it lives, and starts it anew as it was at first. */
  public void restart() {
    restart(first.wal(), 0);
  }

  /** The same as another build. */
  void restartAs(Build another) {
    build = another;
    restart();
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
    return Integer.parseInt(answer(question, answer));
  }

  private String answer(String question, String beginning) {
    process.tell(question);
    return process.awaitLine(beginning).substring(beginning.length());
  }
}

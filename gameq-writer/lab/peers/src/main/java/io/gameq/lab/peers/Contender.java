package io.gameq.lab.peers;

import io.gameq.lab.bench.workload.Actions;
import io.gameq.lab.bench.workload.Workload;
import java.util.concurrent.CompletableFuture;

/**
 * A way to get a game's rows into MySQL, as far as a measurement needs it. Used by one thread; the
 * game threads that it makes, each by its own.
 */
interface Contender extends AutoCloseable {
  /** What the action of a contender that waits for MySQL itself returns. */
  CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

  /**
   * Before a phase, not timed: what a game has done by then, such as logging players in.
   *
   * @param actionsPerThread how many actions each thread is going to do
   */
  default void prepare(Workload workload, long actionsPerThread) throws Exception {}

  /** A connection, or what takes its place, of one game thread. */
  GameThread gameThread(int thread) throws Exception;

  /**
   * Writes what was acknowledged to MySQL and returns as soon as this contender takes it for done.
   */
  void flush() throws Exception;

  /** Rows sent to MySQL so far. */
  long rowsWritten();

  /** What a process that was started after a crash does with what the dead one left in Redis. */
  default void recover() throws Exception {}

  @Override
  void close() throws Exception;

  /** The end that game logic calls. One thread. */
  interface GameThread extends AutoCloseable {
    /**
     * Changes the rows of an action; what it returns completes when the change is acknowledged.
     * Contenders without an asynchronous API return after that.
     */
    CompletableFuture<Void> perform(Actions action) throws Exception;

    /** The same, and returns when the change is acknowledged. */
    default void performAndWait(Actions action) throws Exception {
      perform(action).join();
    }

    @Override
    default void close() throws Exception {}
  }
}

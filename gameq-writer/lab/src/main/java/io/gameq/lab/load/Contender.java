package io.gameq.lab.load;

import io.gameq.lab.workload.Workload;

/**
 * A way to get a game's rows into MySQL, or the limit of a server, as far as a measurement needs
 * it. Used by one thread.
 */
public interface Contender extends GameThreads, AutoCloseable {
  /**
   * Before a load, not timed: what has been done by then, such as logging players in.
   *
   * @param actionsPerThread how many actions each thread is going to do
   */
  default void prepare(Workload workload, long actionsPerThread) throws Exception {}

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
}

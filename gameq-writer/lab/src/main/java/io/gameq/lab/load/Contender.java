package io.gameq.lab.load;

import io.gameq.lab.workload.Workload;
import java.util.Map;

/**
 * A way to get a game's rows into MySQL, or the limit of a server, as far as a measurement needs
 * it. Used by one thread.
 */
public interface Contender extends GameThreads, AutoCloseable {
  /**
   * Before a load, not timed: what has been done by then, such as logging players in.
   *
   * @param actionsPerThread how many actions of each thread are worth being made ready; should a
   *     thread do more, they are repeated
   */
  default void prepare(Workload workload, long actionsPerThread) throws Exception {}

  /**
   * Writes what was acknowledged to MySQL and returns as soon as this contender takes it for done.
   */
  void flush() throws Exception;

  /** Rows sent to MySQL so far, by this process. */
  long rowsWritten();

  /** How it is set up, in the words of its own manual; for a result. */
  default Map<String, String> settings() {
    return Map.of();
  }

  /** What a process that was started after a crash does with what the dead one left in Redis. */
  default void recover() throws Exception {}

  @Override
  void close() throws Exception;
}

package io.gameq.lab.load;

import io.gameq.lab.workload.Actions;

/** Makes game threads. One thread asks; each game thread is used by its own. */
public interface GameThreads {
  /** A connection, or what takes its place, of one game thread. */
  GameThread gameThread(int thread) throws Exception;

  /** The end that game logic calls. One thread. */
  interface GameThread extends AutoCloseable {
    /** Changes the rows of an action. Games without an asynchronous API are done then. */
    Acknowledgement perform(Actions action) throws Exception;

    /** Logs a player out, and in again at once: what a hand-over between nodes costs. */
    default void handOver(long player) throws Exception {
      throw new UnsupportedOperationException("players do not log in here");
    }

    /** Returns once everything is acknowledged. */
    @Override
    default void close() throws Exception {}
  }
}

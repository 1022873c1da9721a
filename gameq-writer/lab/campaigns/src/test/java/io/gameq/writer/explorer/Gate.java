package io.gameq.writer.explorer;

import java.sql.SQLException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;

/**
 * Holds a flush, which runs in a thread of its own, before each statement and before its COMMIT
 * until the explorer lets it pass.
 */
final class Gate {
  /** Where a flush stands. */
  enum Stop {
    STATEMENT,
    COMMIT,
    /** The statement waits for a lock; it is tried again when let pass. */
    BLOCKED,
    DONE
  }

  /** The server's code for a lock that was not given in time; the transaction goes on. */
  private static final int LOCK_WAIT_TIMEOUT = 1205;

  private static final long PATIENCE_SECONDS = 30;

  private final SynchronousQueue<Stop> stops = new SynchronousQueue<>();
  private final SynchronousQueue<Boolean> permits = new SynchronousQueue<>();
  private volatile boolean abandoned;
  private volatile String answer = "";

  /** A call to the server. */
  interface Call {
    Object run() throws Throwable;
  }

  /** Of the flush's thread: waits, then calls; calls again when a lock was not free. */
  Object pass(Stop at, Call call) throws Throwable {
    await(at);
    while (true) {
      try {
        Object result = call.run();
        answer = result instanceof Integer ? at + " " + result : at.name();
        return result;
      } catch (SQLException e) {
        if (abandoned || e.getErrorCode() != LOCK_WAIT_TIMEOUT) {
          throw e;
        }
        await(Stop.BLOCKED);
      }
    }
  }

  /** Of the flush's thread: it is over. */
  void done() {
    try {
      offer(Stop.DONE);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private void await(Stop at) throws SQLException {
    if (!abandoned) {
      offer(at);
      try {
        Boolean permit = permits.poll(10, TimeUnit.MINUTES);
        abandoned = permit == null || !permit;
      } catch (InterruptedException e) {
        abandoned = true;
      }
    }
    if (abandoned) {
      throw new SQLException("abandoned by the explorer", "08S01");
    }
  }

  private void offer(Stop at) throws SQLException {
    try {
      if (!stops.offer(at, PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new SQLException("the explorer does not listen", "08S01");
      }
    } catch (InterruptedException e) {
      throw new SQLException("interrupted", "08S01", e);
    }
  }

  /** What the server answered last: which statement it was, and how many rows it changed. */
  String answer() {
    return answer;
  }

  /** Of the explorer's thread: where the flush stops next. */
  Stop next() {
    try {
      Stop stop = stops.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      if (stop == null) {
        throw new IllegalStateException("a flush does not come to its next stop");
      }
      return stop;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Of the explorer's thread: lets the flush pass, or makes its next call fail. */
  void let(boolean pass) {
    try {
      if (!permits.offer(pass, PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("a flush does not wait at its gate");
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}

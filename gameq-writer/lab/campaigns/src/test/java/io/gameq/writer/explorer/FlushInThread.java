package io.gameq.writer.explorer;

import io.gameq.mysql.flush.FlushPlan.OwnerRows;
import io.gameq.writer.explorer.Gate.Stop;
import io.gameq.writer.flush.Stage;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The real flush of one worker, run statement by statement. Used by the explorer's thread. */
final class FlushInThread {
  private final Gate gate = new Gate();
  private Stop stop;
  private boolean blocked;
  private volatile @Nullable Stage next;

  /** Begins; stops before the first statement. */
  FlushInThread(
      Executor threads, Supplier<Stage> flush, List<OwnerRows> rows, FlushConnection connection) {
    connection.gate(gate, rows);
    threads.execute(
        () -> {
          try {
            next = flush.get();
          } finally {
            gate.done();
          }
        });
    stop = gate.next();
  }

  /** Runs one statement; false when it waits for a lock. */
  boolean pass() {
    gate.let(true);
    Stop next = gate.next();
    blocked = next == Stop.BLOCKED;
    if (!blocked) {
      stop = next;
    }
    return !blocked;
  }

  Stop stop() {
    return stop;
  }

  /** What the server answered to the last statement. */
  String answer() {
    return gate.answer();
  }

  /** Where the turn stands after it. */
  Stage next() {
    return Objects.requireNonNull(next, "the flush died");
  }

  /** As if its process were killed: the server rolls back. */
  void abandon() {
    if (stop != Stop.DONE) {
      gate.let(false);
      while (gate.next() != Stop.DONE) {
        gate.let(false);
      }
      stop = Stop.DONE;
    }
  }
}

package io.gameq.writer.service;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Whether a writer process lives and does its work, for whoever watches it from outside.
 * Thread-safe.
 */
public final class Health {
  private volatile List<String> starting = List.of("starting");
  private volatile Supplier<List<String>> running = List::of;
  private volatile BooleanSupplier alive = () -> true;
  private volatile boolean stopping;

  /** The service cannot start yet, and why. */
  void waitsFor(String what) {
    starting = List.of(what);
  }

  /**
   * The service runs from now on.
   *
   * @param alive false when it cannot do its work again without a restart
   * @param problems why it does not do its work now, each in one line; empty when it does
   */
  void runs(BooleanSupplier alive, Supplier<List<String>> problems) {
    this.alive = alive;
    running = problems;
    starting = List.of();
  }

  /** The service claims nothing any more. */
  void stops() {
    stopping = true;
  }

  /** Whether the process can do its work, or will when servers answer; else it is to be ended. */
  public boolean isAlive() {
    return stopping || alive.getAsBoolean(); // workers end before what they left is finished
  }

  /** Why rows are not written now, each in one line; empty when they are. */
  public List<String> problems() {
    List<String> problems = new ArrayList<>(starting);
    if (stopping) {
      problems.add("stopping: what is claimed is finished, nothing else is claimed");
    } else if (problems.isEmpty()) {
      problems.addAll(running.get());
    }
    return problems;
  }
}

package io.gameq.writer.service;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
  private volatile BooleanSupplier isPaused = () -> false;
  private volatile boolean isWaiting;
  private volatile boolean stopping;

  /** What a process is doing, one at a time. */
  enum State {
    /** It has asked no server yet. */
    STARTING,
    /** It waits for a server before it can start. */
    WAITING,
    WRITING,
    /** An operator paused it, or all. */
    PAUSED,
    /** It runs, and rows are not written. */
    NOT_WRITING,
    STOPPING
  }

  /** Registers what it is doing, as a meter for each state that is 1 for the one of now. */
  public void bindTo(MeterRegistry meters) {
    for (State state : State.values()) {
      Gauge.builder("gameq.writer.state", this, of -> of.state() == state ? 1 : 0)
          .description("1 for what this writer is doing now")
          .tag("state", state.name().toLowerCase(Locale.ROOT))
          .register(meters);
    }
  }

  private State state() {
    if (stopping) {
      return State.STOPPING;
    }
    if (!starting.isEmpty()) {
      return isWaiting ? State.WAITING : State.STARTING;
    }
    return isPaused.getAsBoolean()
        ? State.PAUSED
        : running.get().isEmpty() ? State.WRITING : State.NOT_WRITING;
  }

  /** The service cannot start yet, and why. */
  void waitsFor(String what) {
    starting = List.of(what);
    isWaiting = true;
  }

  /**
   * The service runs from now on.
   *
   * @param isPaused whether an operator wants it to claim nothing
   * @param alive false when it cannot do its work again without a restart
   * @param problems why it does not do its work now, each in one line; empty when it does
   */
  void runs(BooleanSupplier isPaused, BooleanSupplier alive, Supplier<List<String>> problems) {
    this.isPaused = isPaused;
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

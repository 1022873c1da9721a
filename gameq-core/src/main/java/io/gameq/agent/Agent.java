package io.gameq.agent;

/**
 * Background work that is done in steps. Used by one thread: that of its {@link AgentRunner}, or a
 * test that takes the steps itself.
 */
public interface Agent {
  /** What it does, as the log says it after "cannot": "follow the term". */
  String name();

  /**
   * Does one step of what there is to do now; returns how much it did, 0 for nothing. Waits for
   * more only in a queue that several agents take from, and less than a second. What it throws is
   * logged, and the next step is taken all the same.
   */
  int doWork();

  /** How long to rest after a step that did nothing, unless the runner is woken. */
  long idleNanos();

  /** Finishes and gives up what it holds; called once, after the last step. */
  default void close() {}
}

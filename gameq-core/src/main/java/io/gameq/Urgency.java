package io.gameq;

/** How soon a commit is to be in MySQL. */
public enum Urgency {
  /** At the end of the merge window, in the order in which rows wait. */
  NORMAL,
  /**
   * At once, before whatever waits: when a writer has seen it, which takes up to a fifth of a
   * second, a worker is free, which writers aim at within 0.4 s, and its own flush is done. So
   * within a second as a rule, also while a backlog drains, and later when MySQL stalls. For what
   * must not be lost with both Redis and this host, as purchases. All that waits of the same owner
   * goes with it.
   *
   * <p>For the few: of urgent rows and others, each gets half of what MySQL takes when there is
   * more of both than that. What a healing or a replay puts back into Redis, and what MySQL did not
   * take at the first try, waits like other rows from then on.
   */
  URGENT
}

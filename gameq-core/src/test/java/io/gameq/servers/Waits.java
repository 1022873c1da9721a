package io.gameq.servers;

import java.time.Duration;

/** How long tests wait. */
public final class Waits {
  /**
   * For what must happen and may take its time: far above what any step takes on a busy machine, so
   * that only a test that fails waits that long. {@code gameq.test.waitMinutes} makes it longer.
   */
  public static final Duration LONG =
      Duration.ofMinutes(Integer.getInteger("gameq.test.waitMinutes", 2));

  /**
   * The call timeout of a node whose test is not about that: a busy machine may take longer for an
   * open than a game would wait.
   */
  public static final Duration CALL = LONG.dividedBy(2);

  private Waits() {}
}

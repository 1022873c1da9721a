package io.gameq.servers;

import java.time.Duration;

/** How long tests wait. */
public final class Waits {
  /**
   * For what must happen and may take its time: far above what any step takes on a busy machine, so
   * that only a test that fails waits that long.
   */
  public static final Duration LONG = Duration.ofMinutes(2);

  private Waits() {}
}

package io.gameq.writer.terminal;

import io.gameq.GameQueueException;
import io.gameq.agent.RateLimit;
import picocli.CommandLine.Option;

/** {@code --rate}: how fast a command looks through a server that others use; mix it in. */
public final class RateOption {
  @Option(
      names = "--rate",
      paramLabel = "N",
      description =
          "Most keys, entries or letters to look at a second (default: ${DEFAULT-VALUE}; 0: as"
              + " many as the server answers).")
  private long perSecond = 20_000;

  /** 0 for no limit; throws when it is negative. */
  public long perSecond() {
    if (perSecond < 0) {
      throw new GameQueueException(
          "--rate is " + perSecond + ": give keys, entries or letters a second, or 0");
    }
    return perSecond;
  }

  /** A limit that begins now. */
  public RateLimit limit() {
    return new RateLimit(perSecond());
  }
}

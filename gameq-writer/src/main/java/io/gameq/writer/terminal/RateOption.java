package io.gameq.writer.terminal;

import io.gameq.GameQueueException;
import io.gameq.agent.RateLimit;
import io.gameq.terminal.Shown;
import io.gameq.writer.redis.SlotContents;
import io.gameq.writer.redis.SlotContents.ScanProgress;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.function.Consumer;
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

  /**
   * To be told of each page of a look at all keys: holds it back, and says now and then how far.
   */
  public Consumer<ScanProgress> scan(PrintWriter err) {
    RateLimit pace = limit();
    Consumer<ScanProgress> told = progress(err);
    return of -> {
      told.accept(of);
      pace.take(SlotContents.PAGE);
    };
  }

  /** The same, and holds nothing back. On stderr: so that the rest can be piped on. */
  public static Consumer<ScanProgress> progress(PrintWriter err) {
    long[] told = {System.nanoTime()};
    return of -> {
      if (System.nanoTime() - told[0] > Duration.ofSeconds(2).toNanos()) {
        told[0] = System.nanoTime();
        err.println(Shown.line("looked at %,d of %,d keys", of.keys(), of.ofKeys()));
        err.flush();
      }
    };
  }

  /** A limit that begins now. */
  public RateLimit limit() {
    return new RateLimit(perSecond());
  }
}

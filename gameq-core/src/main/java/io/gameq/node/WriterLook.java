package io.gameq.node;

import io.gameq.redis.script.NodeSigns.ProcessSigns;
import io.gameq.redis.script.NodeSigns.ProcessSigns.ProcessSign;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What writers say of themselves, for who waits for MySQL in vain: looked at when somebody is about
 * to give up, and once a second at most. Thread-safe.
 */
final class WriterLook {
  private static final long GOOD_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final NodeCalls calls;
  private final Supplier<List<ProcessSign>> signs;
  private @Nullable CompletableFuture<String> last;
  private long lastNanos;

  /** A look that asks for the signs of all processes. */
  WriterLook(NodeCalls calls, Supplier<List<ProcessSign>> signs) {
    this.calls = calls;
    this.signs = signs;
  }

  /** Ends with a sentence, or fails when Redis does not answer; returns at once. */
  synchronized CompletableFuture<String> begin() {
    CompletableFuture<String> known = last;
    if (known == null || System.nanoTime() - lastNanos > GOOD_NANOS) {
      known = calls.shareOfRedis("look at writers", isAwaited -> text(signs.get()));
      last = known;
      lastNanos = System.nanoTime();
    }
    return known.copy();
  }

  static String text(List<ProcessSign> processes) {
    List<ProcessSign> all =
        processes.stream().filter(of -> of.kind().equals(ProcessSigns.WRITER)).toList();
    List<ProcessSign> running = all.stream().filter(ProcessSign::isFresh).toList();
    String newest =
        all.stream().mapToLong(ProcessSign::silentMillis).min().stream()
            .mapToObj(
                millis ->
                    String.format(
                        Locale.ROOT, ", the newest sign of one is %d s old", millis / 1_000))
            .findFirst()
            .orElse("");
    if (running.isEmpty()) {
      return "no writer runs" + newest + ": start one, 'gameq-writer run'";
    }
    return String.format(
        Locale.ROOT,
        "%d writer%s run%s%s%s: 'gameq-writer status' says what holds rows up",
        running.size(),
        running.size() == 1 ? "" : "s",
        running.size() == 1 ? "s" : "",
        newest,
        running.stream().allMatch(of -> "true".equals(of.fields().get("outage")))
            ? ", and MySQL does not answer them"
            : "");
  }
}

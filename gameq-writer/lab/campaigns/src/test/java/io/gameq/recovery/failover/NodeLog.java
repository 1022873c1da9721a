package io.gameq.recovery.failover;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads in a node's log when it had healed. Stateless. */
final class NodeLog {
  private static final Pattern HEALED =
      Pattern.compile("^(\\d\\d:\\d\\d:\\d\\d\\.\\d{3}) .*healed: .*");

  private static final Pattern REPLAYED =
      Pattern.compile("healed: .* (\\d+) records replayed from the WAL");

  private static final long HOUR_MILLIS = TimeUnit.HOURS.toMillis(1);

  private NodeLog() {}

  /** How many WAL records it replayed. */
  static long replayed(Path log) {
    long replayed = 0;
    try {
      Matcher matcher = REPLAYED.matcher(Files.readString(log, StandardCharsets.ISO_8859_1));
      while (matcher.find()) {
        replayed += Long.parseLong(matcher.group(1));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return replayed;
  }

  /**
   * When it had healed, each time, in the nanos of {@link System#nanoTime}. It is less than an hour
   * ago, and the node's clock may have been wrong by whole hours.
   */
  static List<Long> healings(Path log) {
    long now = System.nanoTime();
    long nowMillis = millisOfDay(LocalTime.now(ZoneId.systemDefault()));
    List<Long> healings = new ArrayList<>();
    try {
      for (String line : Files.readAllLines(log, StandardCharsets.ISO_8859_1)) {
        Matcher matcher = HEALED.matcher(line);
        if (matcher.matches()) {
          long millis = millisOfDay(LocalTime.parse(matcher.group(1)));
          long agoMillis = Math.floorMod(nowMillis - millis, HOUR_MILLIS);
          healings.add(now - TimeUnit.MILLISECONDS.toNanos(agoMillis));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return healings;
  }

  private static long millisOfDay(LocalTime time) {
    return TimeUnit.NANOSECONDS.toMillis(time.toNanoOfDay());
  }
}

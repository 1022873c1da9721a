package io.gameq.sign;

import io.gameq.GameQueueException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a game's nodes and writers speak: one number for what Redis keys, arguments of scripts,
 * encoded rows and messages, and gameq's own tables mean together. MySQL holds it, in {@code
 * gameq_setting}, and Redis a copy; an operator raises it once all who run speak the next one.
 * Immutable.
 *
 * <p>A build reads all formats from {@link ProtocolRange#OLDEST} on, and writes those of the number
 * that MySQL holds: see CONTRIBUTING.
 *
 * @param version of the formats that are written
 * @param release of gameq that raised it; empty where nobody did
 * @param since when, ISO-8601 in UTC
 * @param by whom
 */
public record Protocol(int version, String release, String since, String by) {
  /** This build's number; a test holds it to the poms. */
  public static final String RELEASE = "0.1.0";

  /** Its name in {@code gameq_setting} and, after the namespace, in Redis. */
  public static final String NAME = "protocol";

  /** Of databases that say nothing of it. */
  public static final Protocol FIRST = new Protocol(1, "", "", "");

  /** What each brought, from 1 on: this build writes them all. */
  private static final List<String> BROUGHT = List.of("what gameq 0.1.0 reads and writes");

  /** One that is raised now; a long name of who did is cut, for the column. */
  public static Protocol raised(int version, String by) {
    return new Protocol(
        version,
        RELEASE,
        Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
        by.replaceAll("[^!-~]", "?").replaceAll("(.{128}).+", "$1"));
  }

  /** From its {@link #text}; the first without one. */
  public static Protocol of(@Nullable String text) {
    if (text == null) {
      return FIRST;
    }
    String[] parts = (text + "   ").split(" ", 4);
    return new Protocol(Integer.parseInt(parts[0]), parts[1], parts[2], parts[3].strip());
  }

  /** As MySQL and Redis hold it: ASCII. */
  public String text() {
    return String.format(Locale.ROOT, "%d %s %s %s", version, release, since, by);
  }

  /** In one sentence. */
  public static String brought(int version) {
    return version <= BROUGHT.size() ? BROUGHT.get(version - 1) : "nothing: for tests alone";
  }

  /**
   * Passes where this build speaks it; returns it.
   *
   * @param who is at it
   * @throws UnspokenProtocolException naming both, with the remedy
   */
  public Protocol requireSpoken(String who) {
    ProtocolRange ours = ProtocolRange.ours();
    if (ours.speaks(version)) {
      return this;
    }
    throw new UnspokenProtocolException(
        "this is gameq %s, which speaks protocol %s, and %s is at %s%s: use %s"
            .formatted(
                RELEASE,
                ours.text(),
                who,
                version,
                release.isEmpty() ? "" : " (raised %s by %s)".formatted(since, by),
                version > ours.newestProtocol()
                    ? "gameq %s or newer".formatted(release.isEmpty() ? "of that" : release)
                    : "the release before, and have its 'gameq-writer protocol raise' raise it"));
  }

  /**
   * What a build speaks; both are 0 of one that does not say, which speaks the first alone.
   *
   * @param oldestProtocol that it reads
   * @param newestProtocol that it writes, once a game is at it
   */
  public record ProtocolRange(long oldestProtocol, long newestProtocol) {
    private static final int OLDEST = 1;

    /** Of this build; tests have it speak newer ones. */
    public static ProtocolRange ours() {
      return new ProtocolRange(
          OLDEST, Integer.getInteger("gameq.test.newestProtocol", BROUGHT.size()));
    }

    /** To be written once it is agreed on. */
    public int newest() {
      return (int) Math.max(1, newestProtocol);
    }

    /** Whether a process of the build may take part in a game. */
    public boolean speaks(long version) {
      return oldestProtocol <= version && version <= newest();
    }

    /** {@code 1}, or {@code 1-2}. */
    public String text() {
      return newestProtocol <= oldestProtocol
          ? Integer.toString(newest())
          : oldestProtocol + "-" + newestProtocol;
    }
  }

  /** This build does not speak what a game is at: nothing was written. */
  public static final class UnspokenProtocolException extends GameQueueException {
    private static final long serialVersionUID = 1L;

    UnspokenProtocolException(String message) {
      super(message);
    }
  }
}

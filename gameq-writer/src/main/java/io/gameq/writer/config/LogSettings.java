package io.gameq.writer.config;

/** How a running writer logs; immutable. */
public record LogSettings(Format format, Level level) {
  /** As it is without a setting. */
  public static final LogSettings DEFAULT = new LogSettings(Format.TEXT, Level.INFO);

  /** What a line looks like. */
  public enum Format {
    /** For people: the time, the thread, the message. */
    TEXT,
    /** {@code time=... level=... message="..."}. */
    KEYVALUE,
    /** One JSON object a line. */
    JSON
  }

  /** The least that is logged. */
  public enum Level {
    ERROR,
    WARN,
    INFO,
    DEBUG
  }
}

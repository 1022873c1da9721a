package io.gameq.writer.logs;

import static java.nio.charset.StandardCharsets.UTF_8;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.encoder.EncoderBase;
import java.util.function.Function;

/** Turns each event into a line of UTF-8. Thread-safe. */
final class LineEncoder extends EncoderBase<ILoggingEvent> {
  private static final byte[] NOTHING = {};

  private final Function<ILoggingEvent, String> lines;

  LineEncoder(Function<ILoggingEvent, String> lines) {
    this.lines = lines;
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    return (lines.apply(event) + "\n").getBytes(UTF_8);
  }

  @Override
  public byte[] headerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] footerBytes() {
    return NOTHING;
  }
}

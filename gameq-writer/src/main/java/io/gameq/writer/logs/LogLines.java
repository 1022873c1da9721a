package io.gameq.writer.logs;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import io.gameq.terminal.Shown;
import io.gameq.writer.config.LogSettings;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The lines of the log in each format: times in UTC, and nothing that came from a player, a row or
 * a server breaks a line or reaches a terminal's controls. Stateless.
 */
final class LogLines {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  /** All beyond ASCII as escapes, since some of it turns a terminal's text around. */
  private static final JsonFactory JSON =
      JsonFactory.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9._:@/-]+");

  private LogLines() {}

  /**
   * The lines in a format, without their ends.
   *
   * @param writer its name, in lines for machines
   */
  static Function<ILoggingEvent, String> of(LogSettings.Format format, String writer) {
    return switch (format) {
      case TEXT -> LogLines::text;
      case KEYVALUE -> event -> keyValue(fields(event, writer));
      case JSON -> event -> json(fields(event, writer));
    };
  }

  private static String text(ILoggingEvent event) {
    String logger = event.getLoggerName();
    StringBuilder line = new StringBuilder();
    line.append(time(event))
        .append(" [")
        .append(Shown.text(event.getThreadName()))
        .append("] ")
        .append(event.getLevel())
        .append(' ')
        .append(logger.substring(logger.lastIndexOf('.') + 1))
        .append(" - ")
        .append(Shown.text(event.getFormattedMessage()));
    IThrowableProxy error = event.getThrowableProxy();
    if (error != null) {
      // Indented, so that no message of an exception passes for a line of its own.
      ThrowableProxyUtil.asString(error)
          .lines()
          .forEach(of -> line.append("\n\t").append(Shown.text(of.replace("\t", "  "))));
    }
    return line.toString();
  }

  private static Map<String, String> fields(ILoggingEvent event, String writer) {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("time", time(event));
    fields.put("level", event.getLevel().toString().toLowerCase(Locale.ROOT));
    fields.put("writer", writer);
    fields.put("thread", event.getThreadName());
    fields.put("logger", event.getLoggerName());
    fields.put("message", String.valueOf(event.getFormattedMessage()));
    IThrowableProxy error = event.getThrowableProxy();
    if (error != null) {
      fields.put("error", ThrowableProxyUtil.asString(error).stripTrailing());
    }
    return fields;
  }

  private static String keyValue(Map<String, String> fields) {
    return fields.entrySet().stream()
        .map(of -> of.getKey() + "=" + quoted(of.getValue()))
        .collect(Collectors.joining(" "));
  }

  /** As JSON quotes: line ends and controls are escapes. */
  private static String quoted(String value) {
    return PLAIN.matcher(value).matches()
        ? value
        : '"' + Shown.text(value.replace("\\", "\\\\").replace("\"", "\\\"")) + '"';
  }

  private static String json(Map<String, String> fields) {
    StringWriter line = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(line)) {
      json.writeStartObject();
      for (Map.Entry<String, String> field : fields.entrySet()) {
        json.writeStringField(field.getKey(), field.getValue());
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory", e);
    }
    return line.toString();
  }

  private static String time(ILoggingEvent event) {
    return TIME.format(Instant.ofEpochMilli(event.getTimeStamp()));
  }
}

package io.gameq.writer.service;

import static java.nio.charset.StandardCharsets.UTF_8;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.classic.util.DefaultJoranConfigurator;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.LayoutBase;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import ch.qos.logback.core.joran.spi.ConsoleTarget;
import ch.qos.logback.core.spi.ContextAwareBase;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.terminal.Shown;
import io.gameq.writer.config.WriterConfig.LogSettings;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.LoggerFactory;

/** Where a running writer's log goes, and how its lines look. Stateless. */
public final class LogOutput {
  private static final String LOGBACK = "ch.qos.logback.classic.LoggerContext";

  private LogOutput() {}

  /**
   * From now on logs as the settings say. Whoever brought another back end, or a configuration of
   * his own for this one ({@code -Dlogback.configurationFile}), keeps it.
   *
   * @param writer its name, in lines for machines
   */
  public static void use(LogSettings settings, String writer) {
    // By its name: the class is not there where a test or a benchmark brings another one.
    if (LoggerFactory.getILoggerFactory().getClass().getName().equals(LOGBACK)) {
      LogbackSetup.again(settings, writer);
    }
  }

  /**
   * Sets the logging back end up without a file of its own: text on stderr until a running writer's
   * settings are read. Found as a service; a file that an operator gave comes first.
   */
  public static final class LogbackSetup extends ContextAwareBase implements Configurator {
    /** They say at INFO what nobody asked for. */
    private static final List<String> TALKATIVE =
        List.of(
            "com.zaxxer.hikari",
            "io.lettuce",
            "io.netty",
            "net.openhft",
            "io.javalin",
            "org.eclipse.jetty");

    /** Warns at each start that JNA is not there, which would pin threads; gameq pins none. */
    private static final String OF_PINNED_THREADS = "net.openhft.affinity";

    private static final String IS_OURS = LogbackSetup.class.getName();

    @Override
    public ExecutionStatus configure(LoggerContext context) {
      DefaultJoranConfigurator files = new DefaultJoranConfigurator();
      files.setContext(context);
      ExecutionStatus found = files.configure(context);
      if (found != ExecutionStatus.INVOKE_NEXT_IF_ANY) {
        return found;
      }
      context.putObject(IS_OURS, true);
      set(context, LogSettings.DEFAULT, "", new ConsoleAppender<>());
      return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /** Sets it up anew, unless an operator did so himself. */
    static void again(LogSettings settings, String writer) {
      LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
      if (context.getObject(IS_OURS) != null) {
        set(context, settings, writer, new ConsoleAppender<>());
      }
    }

    /** One appender for all loggers, instead of those that there were. */
    static void set(
        LoggerContext context,
        LogSettings settings,
        String writer,
        OutputStreamAppender<ILoggingEvent> appender) {
      LogLines lines = new LogLines(settings.format(), writer);
      lines.start();
      LayoutWrappingEncoder<ILoggingEvent> encoder = new LayoutWrappingEncoder<>();
      encoder.setContext(context);
      encoder.setCharset(UTF_8);
      encoder.setLayout(lines);
      encoder.start();
      if (appender instanceof ConsoleAppender<ILoggingEvent> console) {
        console.setTarget(ConsoleTarget.SystemErr.getName());
      }
      appender.setContext(context);
      appender.setEncoder(encoder);
      appender.start();
      Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
      root.detachAndStopAllAppenders();
      root.addAppender(appender);
      root.setLevel(Level.toLevel(settings.level().name()));
      for (String name : TALKATIVE) {
        context.getLogger(name).setLevel(Level.WARN);
      }
      context.getLogger(OF_PINNED_THREADS).setLevel(Level.ERROR);
    }
  }

  /**
   * The lines of the log in each format: times in UTC, and nothing that came from a player, a row
   * or a server breaks a line or reaches a terminal's controls. Thread-safe.
   */
  private static final class LogLines extends LayoutBase<ILoggingEvent> {
    private static final DateTimeFormatter TIME =
        DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    /** All beyond ASCII as escapes, since some of it turns a terminal's text around. */
    private static final ObjectMapper JSON =
        new ObjectMapper(JsonFactory.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build());

    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9._:@/-]+");

    private final LogSettings.Format format;
    private final String writer;

    /**
     * The lines in a format.
     *
     * @param writer its name, in lines for machines
     */
    LogLines(LogSettings.Format format, String writer) {
      this.format = format;
      this.writer = writer;
    }

    @Override
    public String doLayout(ILoggingEvent event) {
      String line =
          switch (format) {
            case TEXT -> text(event);
            case KEYVALUE ->
                fields(event).entrySet().stream()
                    .map(of -> of.getKey() + "=" + quoted(of.getValue()))
                    .collect(Collectors.joining(" "));
            case JSON -> json(fields(event));
          };
      return line + "\n";
    }

    private static String text(ILoggingEvent event) {
      String logger = event.getLoggerName();
      String line =
          "%s [%s] %s %s - %s"
              .formatted(
                  time(event),
                  Shown.text(event.getThreadName()),
                  event.getLevel(),
                  logger.substring(logger.lastIndexOf('.') + 1),
                  Shown.text(event.getFormattedMessage()));
      IThrowableProxy error = event.getThrowableProxy();
      if (error == null) {
        return line;
      }
      // Indented, so that no message of an exception passes for a line of its own.
      return ThrowableProxyUtil.asString(error)
          .lines()
          .map(of -> "\n\t" + Shown.text(of.replace("\t", "  ")))
          .collect(Collectors.joining("", line, ""));
    }

    private Map<String, String> fields(ILoggingEvent event) {
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

    /** As JSON quotes: line ends and controls are escapes. */
    private static String quoted(String value) {
      return PLAIN.matcher(value).matches()
          ? value
          : '"' + Shown.text(value.replace("\\", "\\\\").replace("\"", "\\\"")) + '"';
    }

    private static String json(Map<String, String> fields) {
      try {
        return JSON.writeValueAsString(fields);
      } catch (JsonProcessingException e) {
        throw new UncheckedIOException("writing to memory", e);
      }
    }

    private static String time(ILoggingEvent event) {
      return TIME.format(Instant.ofEpochMilli(event.getTimeStamp()));
    }
  }
}

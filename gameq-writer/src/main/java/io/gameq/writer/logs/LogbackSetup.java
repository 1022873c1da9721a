package io.gameq.writer.logs;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.util.DefaultJoranConfigurator;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.joran.spi.ConsoleTarget;
import ch.qos.logback.core.spi.ContextAwareBase;
import io.gameq.writer.config.LogSettings;
import java.util.List;
import org.slf4j.LoggerFactory;

/**
 * Sets the logging back end up without a file of its own: text on stderr until a running writer's
 * settings are read. Found as a service; a file that an operator gave comes first.
 */
public final class LogbackSetup extends ContextAwareBase implements Configurator {
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
    LineEncoder encoder = new LineEncoder(LogLines.of(settings.format(), writer));
    encoder.setContext(context);
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

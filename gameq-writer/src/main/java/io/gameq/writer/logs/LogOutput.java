package io.gameq.writer.logs;

import io.gameq.writer.config.LogSettings;
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
}

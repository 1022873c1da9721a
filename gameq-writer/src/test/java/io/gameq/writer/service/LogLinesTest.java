package io.gameq.writer.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.OutputStreamAppender;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gameq.writer.config.WriterConfig.LogSettings;
import io.gameq.writer.config.WriterConfig.LogSettings.Format;
import io.gameq.writer.config.WriterConfig.LogSettings.Level;
import io.gameq.writer.service.LogOutput.LogbackSetup;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the log's lines are, byte for byte, when somebody stored what is meant to break them. */
class LogLinesTest {
  private static final String HOSTILE =
      "player:1\r\n2026-11-21T10:53:23.172Z [main] INFO forged \u001b[2J\u009b31m\u202e\u2028"
          + "<script>\"quoted\\\" \u00e9 \ud83d\ude00";

  private static String log(Format format, Level level) {
    LoggerContext context = new LoggerContext();
    context.setMDCAdapter(new LogbackMDCAdapter());
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    OutputStreamAppender<ILoggingEvent> appender = new OutputStreamAppender<>();
    appender.setOutputStream(out);
    LogbackSetup.set(context, new LogSettings(format, level), "w 1", appender);
    context.getLogger("io.gameq.Some").debug("not said");
    context.getLogger("io.gameq.Some").warn("set aside {}", HOSTILE);
    context
        .getLogger("io.gameq.Some")
        .error("failed", new IllegalStateException(HOSTILE, new RuntimeException("below\ncause")));
    context.getLogger("com.zaxxer.hikari.Pool").info("started");
    context.stop();
    return out.toString(UTF_8);
  }

  @ParameterizedTest
  @EnumSource(Format.class)
  void nothingThatWasStoredBreaksALineOrReachesTheTerminal(Format format) {
    String out = log(format, Level.INFO);
    assertTrue(out.codePoints().allMatch(c -> c == '\n' || c == '\t' || isHarmless(c)), out);
    List<String> lines = out.lines().filter(line -> !line.startsWith("\t")).toList();
    assertEquals(2, lines.size(), out);
    assertTrue(out.contains("<script>"), out);
  }

  private static boolean isHarmless(int c) {
    int type = Character.getType(c);
    return type != Character.CONTROL
        && type != Character.FORMAT
        && type != Character.LINE_SEPARATOR;
  }

  @Test
  void eachLineOfJsonIsAnObjectWithTheTextAsItWas() throws Exception {
    ObjectMapper json = new ObjectMapper();
    List<String> lines = log(Format.JSON, Level.WARN).lines().toList();
    JsonNode first = json.readTree(lines.get(0));
    assertEquals("set aside " + HOSTILE, first.path("message").asText());
    assertEquals("warn", first.path("level").asText());
    assertEquals("w 1", first.path("writer").asText());
    assertEquals("io.gameq.Some", first.path("logger").asText());
    assertTrue(first.path("time").asText().endsWith("Z"));
    Duration age = Duration.between(Instant.parse(first.path("time").asText()), Instant.now());
    assertTrue(age.abs().toMinutes() < 5, age.toString());
    String error = json.readTree(lines.get(1)).path("error").asText();
    assertTrue(error.startsWith("java.lang.IllegalStateException: " + HOSTILE), error);
    assertTrue(error.contains("Caused by: java.lang.RuntimeException: below\ncause"), error);
  }

  @Test
  void keysAndValuesAreQuotedWhereNeeded() {
    String line = log(Format.KEYVALUE, Level.INFO).lines().toList().get(0);
    assertTrue(
        line.matches(
            "time=\\S+Z level=warn writer=\"w 1\" thread=\\S+ logger=io.gameq.Some message=\"set"
                + " aside player:1.*\""),
        line);
    assertTrue(line.contains("\\u000d\\u000a2026-11-21T10:53:23.172Z [main] INFO forged"), line);
    assertTrue(line.contains("<script>\\\"quoted\\\\\\\" \u00e9 \ud83d\ude00\""), line);
  }

  @Test
  void textHasTheTimeTheThreadAndTheClass() {
    List<String> lines = log(Format.TEXT, Level.INFO).lines().toList();
    assertTrue(
        lines.get(0).matches("\\d{4}-\\d\\d-\\d\\dT[0-9:.]{12}Z \\[.*] WARN Some - set aside .*"),
        lines.get(0));
    assertTrue(lines.stream().anyMatch(line -> line.startsWith("\tCaused by: java.")), "" + lines);
  }

  @Test
  void levelsAreThoseOfTheSetting() {
    assertTrue(log(Format.TEXT, Level.DEBUG).contains("DEBUG Some - not said"));
    assertEquals(1, log(Format.JSON, Level.ERROR).lines().count());
  }
}

package io.gameq.writer.pause;

import io.gameq.agent.AgentRunner.Agent;
import io.gameq.agent.Duty;
import io.gameq.terminal.Shown;
import io.gameq.writer.mysql.PauseTable.Pause;
import io.gameq.writer.mysql.PauseTable.Scope;
import io.gameq.writer.pause.Pausing.Pauses;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads once a second what operators paused. While MySQL does not answer, what was read last stays
 * in force. Thread-safe.
 */
public final class PauseWatch implements Supplier<Pauses> {
  private static final Duration EVERY = Duration.ofSeconds(1);

  private static final Logger LOG = LoggerFactory.getLogger(PauseWatch.class);

  private final Supplier<List<Pause>> read;
  private final String writer;
  private volatile Pauses latest = Pauses.NONE;

  /**
   * Reads once, so that nothing is claimed before it is known what is paused.
   *
   * @param read asks MySQL
   * @param writer the name of this writer
   * @throws io.gameq.MySqlException when MySQL does not answer
   */
  public PauseWatch(Supplier<List<Pause>> read, String writer) {
    this.read = read;
    this.writer = writer;
    look();
  }

  /** What reads. */
  public Agent duty() {
    return Duty.every(EVERY, "look what is paused", this::look);
  }

  private void look() {
    Pauses now = new Pauses(read.get());
    Pauses before = latest;
    latest = now;
    now.all().stream()
        .filter(pause -> !before.all().contains(pause) && concerns(pause))
        .forEach(pause -> LOG.info("{}", PauseText.line(pause)));
    before.all().stream()
        .filter(pause -> !isStill(pause, now) && concerns(pause))
        .forEach(pause -> LOG.info("{} is resumed", PauseText.what(pause)));
  }

  private boolean concerns(Pause pause) {
    return pause.scope() != Scope.WRITER || pause.name().equals(writer);
  }

  private static boolean isStill(Pause pause, Pauses now) {
    return now.all().stream()
        .anyMatch(of -> of.scope() == pause.scope() && of.name().equals(pause.name()));
  }

  /** What is paused, as it was read last. */
  @Override
  public Pauses get() {
    return latest;
  }

  /** Why this writer claims nothing at all; null when it may. */
  public @Nullable Pause ofThisWriter() {
    return latest.ofWriter(writer);
  }

  /** Whether this writer claims nothing of a slot. */
  public boolean isPaused(int slot) {
    return latest.ofWriter(writer) != null || latest.ofSlot(slot) != null;
  }

  /** How logs and commands name what is paused. Stateless. */
  public static final class PauseText {
    private PauseText() {}

    /** For programs. */
    public static Map<String, Object> json(Pause pause) {
      Map<String, Object> all = new LinkedHashMap<>();
      all.put("scope", pause.scope().name().toLowerCase(Locale.ROOT));
      all.put("name", pause.name());
      all.put("reason", pause.reason());
      all.put("by", pause.by());
      all.put("at", pause.at().toString());
      return all;
    }

    /** {@code slot 3}, {@code table item}, {@code writer w1}; {@code everything}. */
    public static String what(Pause pause) {
      return switch (pause.scope()) {
        case ALL -> "everything";
        case SLOT -> "slot " + Shown.text(pause.name());
        case TABLE -> "table " + Shown.text(pause.name());
        case WRITER -> "writer " + Shown.text(pause.name());
      };
    }

    /** {@code slot 3 is paused by ann@host since 2026-11-24 00:56:04.264 UTC: moving house}. */
    public static String line(Pause pause) {
      return "%s is paused %s".formatted(what(pause), why(pause));
    }

    /** {@code by ann@host since 2026-11-24 00:56:04.264 UTC: moving house}. */
    public static String why(Pause pause) {
      return "by %s since %s UTC: %s"
          .formatted(Shown.text(pause.by()), Shown.utc(pause.at()), Shown.text(pause.reason()));
    }
  }
}

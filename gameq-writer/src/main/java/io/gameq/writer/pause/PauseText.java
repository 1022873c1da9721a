package io.gameq.writer.pause;

import io.gameq.mysql.tables.PauseTable.Pause;
import io.gameq.terminal.Shown;

/** How logs and commands name what is paused. Stateless. */
public final class PauseText {
  private PauseText() {}

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

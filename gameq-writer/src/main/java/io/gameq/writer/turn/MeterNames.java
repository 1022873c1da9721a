package io.gameq.writer.turn;

import java.util.Locale;

/** How classes are called in tags of meters. Stateless. */
public final class MeterNames {
  private MeterNames() {}

  /** {@code TableRefused} is {@code table_refused}. */
  public static String of(Class<?> type) {
    return type.getSimpleName().replaceAll("(?<=[a-z])(?=[A-Z])", "_").toLowerCase(Locale.ROOT);
  }
}

package io.gameq.writer.pause;

import io.gameq.GameQueueException;
import io.gameq.mysql.tables.PauseTable.Scope;
import java.util.Locale;

/**
 * What an operator pauses or resumes. Immutable.
 *
 * @param name slot number, table or writer; empty for {@link Scope#ALL}
 */
public record PauseTarget(Scope scope, String name) {
  private static final String WRITER_NAME = "[A-Za-z0-9._-]{1,64}";

  /**
   * Reads what the operator named.
   *
   * @param scope {@code all}, {@code slot}, {@code table} or {@code writer}
   * @param name empty for all
   * @throws GameQueueException when there is no such thing, or the name is missing or too many
   */
  public static PauseTarget of(String scope, String name) {
    return switch (scope.toLowerCase(Locale.ROOT)) {
      case "all" -> all(name);
      case "slot" -> new PauseTarget(Scope.SLOT, slot(name));
      case "table" -> new PauseTarget(Scope.TABLE, required(name, "table", "item"));
      case "writer" -> new PauseTarget(Scope.WRITER, writer(name));
      default ->
          throw new GameQueueException(
              "'%s' is nothing that can be paused: use all, slot, table or writer"
                  .formatted(scope));
    };
  }

  private static PauseTarget all(String name) {
    if (!name.isEmpty()) {
      throw new GameQueueException("'all' takes no name, not '%s'".formatted(name));
    }
    return new PauseTarget(Scope.ALL, "");
  }

  private static String slot(String name) {
    String number = required(name, "slot", "3");
    if (!number.matches("\\d{1,4}")) {
      throw new GameQueueException("'%s' is no slot: use its number".formatted(number));
    }
    return Integer.toString(Integer.parseInt(number));
  }

  private static String writer(String name) {
    if (!required(name, "writer", "writer-1").matches(WRITER_NAME)) {
      throw new GameQueueException(
          "'%s' is no writer's name: those have 1 to 64 of A-Z a-z 0-9 . _ -".formatted(name));
    }
    return name;
  }

  private static String required(String name, String scope, String example) {
    if (name.isEmpty()) {
      throw new GameQueueException("which %s? Name it: %s %s".formatted(scope, scope, example));
    }
    return name;
  }

  @Override
  public String toString() {
    return scope == Scope.ALL ? "all" : scope.name().toLowerCase(Locale.ROOT) + " " + name;
  }
}

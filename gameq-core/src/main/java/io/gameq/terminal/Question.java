package io.gameq.terminal;

import io.gameq.GameQueueException;
import java.io.Console;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Asks the person at the console. Stateless. */
public final class Question {
  private Question() {}

  /** The answer; null when there is no console, or its input is at an end. */
  // From JDK 22 on there is always a console; without a terminal its input is at an end.
  @SuppressWarnings("SystemConsoleNull")
  public static @Nullable String ask(String question) {
    Console console = System.console();
    return console == null ? null : console.readLine("%s", question);
  }

  /**
   * Returns when the person agrees.
   *
   * @param otherwise what holds when they do not
   * @param ask shows a question and returns the answer, null when there is none
   * @throws GameQueueException when they do not, or there is no console
   */
  public static void requireYes(
      String question, String otherwise, Function<String, @Nullable String> ask) {
    String answer = ask.apply(question + " [y/N] ");
    if (answer == null) {
      throw new GameQueueException("there is no console to ask on: pass --yes");
    }
    if (!Set.of("y", "yes").contains(answer.strip().toLowerCase(Locale.ROOT))) {
      throw new GameQueueException("not confirmed: " + otherwise);
    }
  }
}

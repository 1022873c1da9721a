package io.gameq.writer.terminal;

import io.gameq.GameQueueException;
import java.io.Console;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Asks before something is removed for good, unless {@code --yes} is given; mix it in. */
public final class Confirmation {
  @Option(names = "--yes", description = "Do not ask; needed where there is no console to ask on.")
  private boolean yes;

  private final Function<String, @Nullable String> ask;

  public Confirmation() {
    this(Confirmation::askOnConsole);
  }

  /**
   * One that asks elsewhere.
   *
   * @param ask shows a question and returns the answer, null when there is none
   */
  Confirmation(Function<String, @Nullable String> ask) {
    this.ask = ask;
  }

  /**
   * Returns when the operator agrees.
   *
   * @throws GameQueueException when they do not, or there is no console
   */
  public void require(String question) {
    if (yes) {
      return;
    }
    String answer = ask.apply(question + " [y/N] ");
    if (answer == null) {
      throw new GameQueueException("there is no console to ask on: pass --yes");
    }
    if (!Set.of("y", "yes").contains(answer.strip().toLowerCase(Locale.ROOT))) {
      throw new GameQueueException("not confirmed: nothing was changed");
    }
  }

  /**
   * Asks for something else on the console.
   *
   * @throws GameQueueException when there is no console, or its input is at an end
   */
  public static String ask(String question) {
    String answer = askOnConsole(question);
    if (answer == null) {
      throw new GameQueueException("there is no console to ask on: give it another way");
    }
    return answer;
  }

  // From JDK 22 on there is always a console; without a terminal its input is at an end.
  @SuppressWarnings("SystemConsoleNull")
  private static @Nullable String askOnConsole(String question) {
    Console console = System.console();
    return console == null ? null : console.readLine("%s", question);
  }
}

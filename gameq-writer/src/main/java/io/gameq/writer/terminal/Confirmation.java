package io.gameq.writer.terminal;

import io.gameq.GameQueueException;
import io.gameq.terminal.Question;
import picocli.CommandLine.Option;

/** Asks before something is removed for good, unless {@code --yes} is given; mix it in. */
public final class Confirmation {
  @Option(names = "--yes", description = "Do not ask; needed where there is no console to ask on.")
  private boolean yes;

  /**
   * Returns when the operator agrees.
   *
   * @throws GameQueueException when they do not, or there is no console
   */
  public void require(String question) {
    if (yes) {
      return;
    }
    Question.requireYes(question, "nothing was changed", Question::ask);
  }

  /**
   * Asks for something else on the console.
   *
   * @throws GameQueueException when there is no console, or its input is at an end
   */
  public static String ask(String question) {
    String answer = Question.ask(question);
    if (answer == null) {
      throw new GameQueueException("there is no console to ask on: give it another way");
    }
    return answer;
  }
}

package io.gameq.writer.terminal;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.terminal.Question;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfirmationTest {
  private static void answer(@org.jspecify.annotations.Nullable String answer) {
    Question.requireYes("Sure?", "nothing was changed", question -> answer);
  }

  @ParameterizedTest
  @ValueSource(strings = {"y", "Y", "yes", " Yes "})
  void yesIsYes(String answer) {
    assertDoesNotThrow(() -> answer(answer));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "n", "no", "yess", "ye"})
  void everythingElseIsNo(String answer) {
    GameQueueException e = assertThrows(GameQueueException.class, () -> answer(answer));
    assertTrue(String.valueOf(e.getMessage()).contains("nothing was changed"));
  }

  @Test
  void withoutAConsoleTheOptionIsNamed() {
    GameQueueException e = assertThrows(GameQueueException.class, () -> answer(null));
    assertTrue(String.valueOf(e.getMessage()).contains("pass --yes"));
  }
}

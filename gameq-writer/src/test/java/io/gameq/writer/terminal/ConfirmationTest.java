package io.gameq.writer.terminal;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gameq.GameQueueException;
import io.gameq.terminal.Question;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfirmationTest {
  private static void answer(@Nullable String answer) {
    Question.requireYes("Sure?", "nothing was changed", question -> answer);
  }

  private static String refused(@Nullable String answer) {
    return String.valueOf(
        assertThrows(GameQueueException.class, () -> answer(answer)).getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"y", "Y", "yes", " Yes "})
  void yesIsYes(String answer) {
    answer(answer);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "n", "no", "yess", "ye"})
  void everythingElseIsNo(String answer) {
    assertTrue(refused(answer).contains("nothing was changed"));
  }

  @Test
  void withoutAConsoleTheOptionIsNamed() {
    assertTrue(refused(null).contains("pass --yes"));
  }
}

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

  private static void assertRefused(@Nullable String answer, String why) {
    GameQueueException e = assertThrows(GameQueueException.class, () -> answer(answer));
    assertTrue(String.valueOf(e.getMessage()).contains(why));
  }

  @ParameterizedTest
  @ValueSource(strings = {"y", "Y", "yes", " Yes "})
  void yesIsYes(String answer) {
    answer(answer);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "n", "no", "yess", "ye"})
  void everythingElseIsNo(String answer) {
    assertRefused(answer, "nothing was changed");
  }

  @Test
  void withoutAConsoleTheOptionIsNamed() {
    assertRefused(null, "pass --yes");
  }
}

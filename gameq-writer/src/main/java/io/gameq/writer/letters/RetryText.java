package io.gameq.writer.letters;

import io.gameq.terminal.Shown;
import io.gameq.writer.mysql.DeadLetterRetry.Gone;
import io.gameq.writer.mysql.DeadLetterRetry.Locked;
import io.gameq.writer.mysql.DeadLetterRetry.Outcome;
import io.gameq.writer.mysql.DeadLetterRetry.Refused;
import io.gameq.writer.mysql.DeadLetterRetry.Superseded;
import io.gameq.writer.mysql.DeadLetterRetry.Written;

/** What became of a retry, in words. Stateless. */
public final class RetryText {
  private RetryText() {}

  /** In two or three words, which fit behind "would be". */
  public static String kind(Outcome outcome) {
    if (outcome instanceof Written) {
      return "written";
    }
    if (outcome instanceof Superseded) {
      return "removed as superseded";
    }
    if (outcome instanceof Refused) {
      return "refused again";
    }
    return outcome instanceof Gone ? "removed by somebody else" : "left alone";
  }

  /** Whether nothing is left to do about the letter: it is not there any more. */
  public static boolean isDone(Outcome outcome) {
    return outcome instanceof Written || outcome instanceof Superseded || outcome instanceof Gone;
  }

  /** Why, on one line; empty where there is nothing to say. */
  public static String detail(Outcome outcome) {
    if (outcome instanceof Refused refused) {
      return "%s %s".formatted(refused.errorCode(), Shown.text(refused.reason()));
    }
    return outcome instanceof Locked locked ? Shown.text(locked.reason()) : "";
  }
}

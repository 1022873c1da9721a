package io.gameq.writer.letters;

import io.gameq.writer.letters.AuditedLetters.LetterName;
import io.gameq.writer.mysql.DeadLetterRetry;
import io.gameq.writer.mysql.DeadLetterRetry.Outcome;
import io.gameq.writer.mysql.DeadLetterRetry.Refused;
import io.gameq.writer.mysql.DeadLetterRetry.Written;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Retries dead letters one after another, and those that another one may make fit again, as long as
 * others get through. Used by one thread.
 */
final class RetryRounds {
  private final DeadLetterRetry retry;
  private final BiConsumer<LetterName, Outcome> told;
  private final Map<LetterName, Refused> waiting = new LinkedHashMap<>();
  private long written;

  /**
   * Begins.
   *
   * @param told what became of each, once that is final
   */
  RetryRounds(DeadLetterRetry retry, BiConsumer<LetterName, Outcome> told) {
    this.retry = retry;
    this.told = told;
  }

  void first(LetterName letter) {
    Outcome outcome = retry.retry(letter.id());
    if (outcome instanceof Refused refused && refused.curable()) {
      waiting.put(letter, refused);
    } else {
      tell(letter, outcome);
    }
  }

  /** Tries those that wait again, until a round gets none of them through. */
  void again() {
    for (long before = 0; written > before && !waiting.isEmpty(); ) {
      before = written;
      for (LetterName letter : List.copyOf(waiting.keySet())) {
        Outcome outcome = retry.retry(letter.id());
        if (outcome instanceof Refused refused) {
          waiting.put(letter, refused);
        } else {
          waiting.remove(letter);
          tell(letter, outcome);
        }
      }
    }
  }

  /** Tells of those that wait for ever. */
  void end() {
    waiting.forEach(this::tell);
  }

  private void tell(LetterName letter, Outcome outcome) {
    written += outcome instanceof Written ? 1 : 0;
    told.accept(letter, outcome);
  }
}

package io.gameq.writer.letters;

import io.gameq.mysql.tables.DeadLetterFilter;
import io.gameq.writer.mysql.DeadLetters.State;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Which dead letters an operator means; immutable.
 *
 * @param stored by what they are
 * @param state by what they are worth now, which is looked up for each of them; null for whichever
 */
public record LetterFilter(DeadLetterFilter stored, @Nullable State state) {
  /** In words: {@code table item, state waiting}. */
  @Override
  public String toString() {
    return state == null ? stored.toString() : stored + ", state " + name(state);
  }

  /** As commands and pages call a state. */
  public static String name(State state) {
    return state.name().toLowerCase(Locale.ROOT);
  }
}

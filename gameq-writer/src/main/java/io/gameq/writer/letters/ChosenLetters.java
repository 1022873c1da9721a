package io.gameq.writer.letters;

import io.gameq.mysql.tables.DeadLetterTable.Extent;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.terminal.Shown;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.DeadLetters.State;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.Consumer;

/**
 * The dead letters that a filter let through when it was asked; those that come later are not among
 * them. Used by one thread.
 */
public final class ChosenLetters {
  private final DeadLetters letters;
  private final LetterFilter filter;
  private final Extent extent;

  ChosenLetters(DeadLetters letters, LetterFilter filter) {
    this.letters = letters;
    this.filter = filter;
    this.extent = letters.extent(filter.stored());
  }

  /** How many there are; where a state was asked for, at most. */
  public long count() {
    return extent.count();
  }

  /** In words, such as {@code 2 dead letters (table item)}. */
  @Override
  public String toString() {
    String most = filter.state() == null ? "" : "at most ";
    return "%s%s (%s)"
        .formatted(most, Shown.count(count(), "dead letter"), Shown.text(filter.toString()));
  }

  LetterFilter filter() {
    return filter;
  }

  void forEach(Consumer<Stored> action) {
    whileWanted(
        0,
        false,
        (letter, state) -> {
          action.accept(letter);
          return true;
        });
  }

  /**
   * Hands over one after another until no further one is wanted.
   *
   * @param afterId only those with a larger id
   * @param withState whether the state is wanted; else it may be {@link State#UNKNOWN}
   */
  void whileWanted(long afterId, boolean withState, BiPredicate<Stored, State> wanted) {
    State only = filter.state();
    letters.pages(
        filter.stored(),
        afterId,
        extent.lastId(),
        page -> {
          List<State> states = withState || only != null ? letters.states(page) : List.of();
          for (int i = 0; i < page.size(); i++) {
            State state = states.isEmpty() ? State.UNKNOWN : states.get(i);
            if ((only == null || state == only) && !wanted.test(page.get(i), state)) {
              return false;
            }
          }
          return true;
        });
  }
}

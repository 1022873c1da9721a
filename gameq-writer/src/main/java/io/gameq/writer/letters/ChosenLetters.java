package io.gameq.writer.letters;

import io.gameq.mysql.tables.DeadLetterFilter;
import io.gameq.mysql.tables.DeadLetterTable.Refused;
import io.gameq.mysql.tables.DeadLetterTable.Stored;
import io.gameq.terminal.Shown;
import io.gameq.writer.letters.AuditedLetters.LetterName;
import io.gameq.writer.mysql.DeadLetters;
import io.gameq.writer.mysql.DeadLetters.State;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The dead letters that a filter let through when it was asked; those that come later are not among
 * them. Used by one thread.
 */
public final class ChosenLetters {
  /** A list counts no further. */
  private static final long MOST_COUNTED = 10_000;

  /** How long a list looks for one page; a browser waits for it. */
  private static final long MOST_LOOK_NANOS = Duration.ofSeconds(2).toNanos();

  /** Of which states are looked up in one go. */
  private static final int STATES = 500;

  private final DeadLetters letters;
  private final LetterFilter filter;
  private final long lastId;
  private long count = -1;

  ChosenLetters(DeadLetters letters, LetterFilter filter) {
    this.letters = letters;
    this.filter = filter;
    this.lastId = letters.lastId();
  }

  /** How many there are; where a state was asked for, at most. May look at all letters. */
  public long count() {
    if (count < 0) {
      count = letters.count(filter.stored());
    }
    return count;
  }

  /**
   * How many there are, as a list tells it without looking at all: {@code 71 dead letters}, {@code
   * more than 10,000 dead letters}; or how many it looked at, where only that tells.
   *
   * @param looked by the list
   */
  public String total(long looked) {
    if (filter.state() != null || !filter.stored().isIndexed()) {
      return Shown.count(looked, "dead letter") + " looked at";
    }
    long counted = letters.count(filter.stored(), MOST_COUNTED + 1);
    return (counted > MOST_COUNTED ? "more than " : "")
        + Shown.count(Math.min(counted, MOST_COUNTED), "dead letter");
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

  /** Hands over one after another, with their rows. */
  void forEach(Consumer<Stored> action) {
    forEach(false, (letter, state) -> action.accept(letter));
  }

  /**
   * Hands over one after another, with their rows.
   *
   * @param withState whether the state is wanted; else it may be {@link State#UNKNOWN}
   */
  void forEach(boolean withState, BiConsumer<Stored, State> action) {
    letters.pages(
        filter.stored(),
        0,
        lastId,
        true,
        0,
        page -> {
          each(
              page.letters(),
              withState,
              (letter, state) -> {
                action.accept(letter, state);
                return true;
              });
          return true;
        });
  }

  /**
   * Some of them without their rows, in the order of their ids; after two seconds what there is.
   *
   * @param after where the last page ended, 0 to begin
   * @param most letters of the page; at least 1
   */
  LetterPage page(long after, int most) {
    long begunNanos = System.nanoTime();
    List<ListedLetter> found = new ArrayList<>();
    long[] looked = {0};
    long[] next = {0};
    letters.pages(
        filter.stored(),
        after,
        lastId,
        false,
        filter.state() == null ? Math.min(STATES, most + 1) : STATES,
        page -> {
          looked[0] += page.looked();
          each(
              page.letters(),
              true,
              (letter, state) -> {
                if (found.size() == most) {
                  next[0] = found.get(most - 1).name().id();
                  return false;
                }
                found.add(ListedLetter.of(letter, state));
                return true;
              });
          if (next[0] == 0
              && page.upTo() < lastId
              && System.nanoTime() - begunNanos > MOST_LOOK_NANOS) {
            next[0] = page.upTo();
          }
          return next[0] == 0;
        });
    return new LetterPage(found, looked[0], next[0]);
  }

  private void each(List<Stored> page, boolean withState, BiPredicate<Stored, State> wanted) {
    State only = filter.state();
    List<State> states = withState || only != null ? letters.states(page) : List.of();
    for (int i = 0; i < page.size(); i++) {
      State state = states.isEmpty() ? State.UNKNOWN : states.get(i);
      if ((only == null || state == only) && !wanted.test(page.get(i), state)) {
        return;
      }
    }
  }

  /**
   * Some dead letters, in the order of their ids; immutable.
   *
   * @param looked at how many letters it looked, at least
   * @param next goes on where this page ends; 0 when it was the last
   */
  public record LetterPage(List<ListedLetter> letters, long looked, long next) {
    public LetterPage {
      letters = List.copyOf(letters);
    }
  }

  /**
   * Which dead letters an operator means; immutable.
   *
   * @param stored by what they are
   * @param state by what they are worth now, which is looked up for each of them; null for
   *     whichever
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

  /**
   * A dead letter as lists have it, without its row; immutable.
   *
   * @param attempts how often the row was tried
   * @param errorCode MySQL's, 0 for an error of gameq's own, -1 for a row of another owner
   * @param error as MySQL said it: to be escaped by whoever shows it
   */
  public record ListedLetter(
      LetterName name, State state, int attempts, Instant refusedAt, int errorCode, String error) {
    static ListedLetter of(Stored letter, State state) {
      Refused row = letter.refused();
      return new ListedLetter(
          LetterName.of(letter),
          state,
          row.attempts(),
          letter.refusedAt(),
          row.errorCode(),
          row.errorText());
    }

    /** For a JSON object, in this order: times in UTC, the version as text. */
    public Map<String, Object> values() {
      Map<String, Object> values = new LinkedHashMap<>();
      values.put("id", name.id());
      values.put("table", name.table());
      values.put("key", name.rowKey());
      values.put("owner", name.owner().id());
      values.put("version", Long.toUnsignedString(name.version()));
      values.put("state", LetterFilter.name(state));
      values.put("attempts", attempts);
      values.put("refusedAt", refusedAt.toString());
      values.put("errorCode", errorCode);
      values.put("error", error);
      return values;
    }
  }
}

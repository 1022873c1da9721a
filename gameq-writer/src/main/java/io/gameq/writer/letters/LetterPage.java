package io.gameq.writer.letters;

import java.util.List;

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

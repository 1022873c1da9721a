package io.gameq.writer.check;

/**
 * What a check found; immutable.
 *
 * @param subject what was looked at, in a word or two
 * @param text what it is, or what is wrong with it and the remedy
 */
public record Finding(String subject, Weight weight, String text) {
  /** How much it matters. */
  public enum Weight {
    OK,
    /** It works, but less safely than one may expect. */
    WARNING,
    /** A writer does not start, or does not do all its work. */
    PROBLEM
  }

  static Finding ok(String subject, String text) {
    return new Finding(subject, Weight.OK, text);
  }

  static Finding warning(String subject, String text) {
    return new Finding(subject, Weight.WARNING, text);
  }

  static Finding problem(String subject, String text) {
    return new Finding(subject, Weight.PROBLEM, text);
  }
}

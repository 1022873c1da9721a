package io.gameq.writer.letters;

/** What became of an edit of a dead letter. */
public sealed interface EditOutcome {
  /** The letter has the new values, or would have them. */
  record Edited() implements EditOutcome {}

  /** A value, a column or the letter itself does not allow it, for the reason given. */
  record NotEditable(String reason) implements EditOutcome {}

  /**
   * The letter is not any more as it was looked at: a newer change of the row was refused, somebody
   * edited it, or it is gone. Nothing was changed: look at it again.
   */
  record ChangedMeanwhile() implements EditOutcome {}
}

package io.gameq.writer.admin;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * What became of one dead letter. Immutable.
 *
 * @param id of a row's letter; 0 of a message
 * @param name on one line
 * @param became in some words, which fit behind "would be"
 * @param why escaped; empty when there is nothing to say
 */
public record ActionResult(long id, String name, Resolution result, String became, String why) {
  /** What is left to do about a letter. */
  public enum Resolution {
    /** Nothing: it is done. */
    DONE,
    /** Nothing: somebody else removed it, or a newer one took its place. */
    GONE,
    /** It is as it was. */
    LEFT
  }

  /** Whether there is nothing more to do about it; in JSON under this name. */
  @JsonProperty("isGone")
  public boolean isGone() {
    return result != Resolution.LEFT;
  }

  /** {@code 7 item:1 of player:1, version 20: refused again (1146 no such table)}. */
  @Override
  public String toString() {
    return name + ": " + text();
  }

  /** What became of it, and why. */
  public String text() {
    return why.isEmpty() ? became : became + " (" + why + ")";
  }
}

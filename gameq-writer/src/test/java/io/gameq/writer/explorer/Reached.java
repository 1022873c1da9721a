package io.gameq.writer.explorer;

import io.gameq.term.Term;

/**
 * The Redis primary that somebody is connected to.
 *
 * @param outages how many primaries, or restarts, there had been before it
 * @param term the number that it was settled to have; {@link Term#NOT_KNOWN} where none is compared
 */
record Reached(int outages, long term) {
  static final Reached FIRST = new Reached(0, Term.NOT_KNOWN);

  /** Whether it was demoted, and serves those that have not noticed. */
  boolean isFormer(State state) {
    return state.former() != null && outages < state.outages();
  }
}
